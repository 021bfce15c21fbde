# Clocks and variables of its own that a kernel uses are listed beside its trials, also from inline PTX.
. "$ROOT/tests/cli/tell"
mkdir mine
cp -r "$ROOT/tests/templates/scaled_add" mine/counts
sed -i 's/"name": "scaled_add"/"name": "counts"/' mine/counts/template.json
sed -i '1i __device__ unsigned seen;' mine/counts/kernel.cu
sed -i '/const int count = /a\
    unsigned long long now = 0;\
    if constexpr (ITEMS == 2) {\
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));\
        if (now == 1)\
            atomicAdd(\&seen, 1);\
    }' mine/counts/kernel.cu
echo '{ "template": "counts", "device": "emulated:sm_89", "cases": [{"ROWS": 3, "COLS": 40}], "genes": {"ITEMS": [1, 2], "THREADS": [32]} }' >c.json
tell try c.json --templates mine --genome ITEMS=2,THREADS=32 | grep '^uses'
"$EVOTILE" try c.json --templates mine --genome ITEMS=2,THREADS=32 --json | jq .uses,.checks
"$EVOTILE" try c.json --templates mine --genome ITEMS=1,THREADS=32 --json | jq .uses
"$EVOTILE" run c.json --templates mine --trials 4 --out run 2>/dev/null
"$EVOTILE" board run | grep -oE 'rel L2  uses|globaltimer, variable seen|^checks of trial.*'
"$EVOTILE" board run --json | jq -r '.rows[0].uses, .rows[0].checks'
"$EVOTILE" report run --markdown | grep 'Checks'
"$EVOTILE" export run --out frozen >/dev/null 2>&1 || echo "not exported"
jq -r '.units[0].checks, .units[0].uses' frozen/manifest.json
grep -A 4 'What it passed' frozen/frozen.h
# The shipped templates use none of this.
for template in softmax_rows attention_fwd attention_fwd/hopper; do
    [ $template = softmax_rows ] && shape='"ROWS": 3, "COLS": 40' || shape='"B": 1, "H": 1, "S": 33, "D": 64'
    echo "{ \"template\": \"$template\", \"device\": \"emulated:sm_90\", \"cases\": [{$shape}] }" >shipped.json
    echo "$template: $("$EVOTILE" try shipped.json --json | jq .verdict,.uses | tr '\n' ' ')"
done
