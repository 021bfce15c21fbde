# gate --criteria: a contract that passes, each condition missed, what was not measured, and files that are refused.
. "$ROOT/tests/cli/tell"
three='{ "ROWS": 4, "COLS": 40 }, { "ROWS": 8, "COLS": 500 }, { "ROWS": 3, "COLS": 200 }'
small three.json '"objective": "per_case", "search": { "strategy": "random" }'
sed "s/{ \"ROWS\": 4, \"COLS\": 40 }/$three/" -i three.json
sed 's/, { "ROWS": 3.*} \]/ ]/' three.json >two.json
fast='THREADS=32,VECTOR=1,KEEP=8,UNROLL=1;THREADS=1024,ROW_THREADS=1024,KEEP=4'
"$EVOTILE" run three.json --trials 12 --out run --seed-genome "$fast" >/dev/null 2>&1
"$EVOTILE" run two.json --trials 8 --out part --seed-genome "$fast" >/dev/null 2>&1
# Prints each condition and whether it passed: judged ARGUMENTS...
judged() {
    local status=0
    "$EVOTILE" gate "$@" --criteria c.json >gated 2>said || status=$?
    jq -c '.criteria.conditions[] | [.condition, .required, .measured != null, .predicted, .passed]' gated
    sed 's/-*[0-9.]* %/N %/' said
    echo "status $status, passed $(jq ".passed, .criteria.passed" gated | xargs), tolerance $(jq .tolerance_percent gated) %"
}

cat >c.json <<'JSON'
{ // all that the emulated device knows
  "faster": [ { "percent": 10, "cases": 2 }, { "percent": 5, "cases": 3 } ],
  "every_case": true, "slowdown_percent": 0, "p90_slowdown_percent": 0, "spill_bytes": 0, "local_bytes": 0
}
JSON
judged run --against run:4
echo "a slower one"
judged run:4 --against run
echo "fewer cases"
judged part --against run:4

# No counters are no pass, and the remedy is named.
cp "$ROOT/configs/criteria.json" .
tell gate run --against run:4 --criteria criteria.json | grep -E 'criteria.json:|p90_ratio|status' | sed 's/p90_ratio":.*/p90_ratio/'

# A kernel that is wrong by now was compared in no case, whatever it uses.
cp -r run broken
find broken -name kernel.cu -exec sed -i 's/1.4426950408889634f/1.4f/' {} +
echo '{ "p90_slowdown_percent": 100, "spill_bytes": 1000 }' >c.json
judged broken --against run

# Spills of the second launch, which has less shared memory than the first.
export EVOTILE_TEMPLATES=$PWD/templates
mkdir templates
cp -r "$ROOT/tests/templates/sum_two_pass" templates/
cat >sum.json <<'JSON'
{ "template": "sum_two_pass", "cases": [ { "N": 5000 } ], "device": "emulated:sm_80", "budget": { "trials": 1 },
  "genes": { "THREADS": [512], "FINAL_THREADS": [32] } }
JSON
python3 - <<'PYTHON'
path = "templates/sum_two_pass/kernel.cu"
text = open(path).read()
head = 'extern "C" __global__ void sum_final(const float *partials, float *sum) {\n    float own = 0.0f;'
assert head in text
open(path, "w").write(text.replace(head, head.replace("void sum", "void __launch_bounds__(1024, 2) sum") + """
    float all = 0.0f, kept[60];
#pragma unroll
    for (int i = 0; i < 60; ++i)
        all += kept[i] = *(const volatile float *)&partials[(threadIdx.x + i) % BLOCKS];
#pragma unroll
    for (int i = 0; i < 60; ++i)
        own = fmaf(kept[i], all, own);
    own = own == 1e30f ? 1.0f : 0.0f;"""))
PYTHON
"$EVOTILE" run sum.json --out sum >/dev/null 2>&1
echo '{ "spill_bytes": 8, "local_bytes": 8 }' >c.json
judged sum --against sum | sed 's/: [0-9]* at/: some at/'
"$EVOTILE" gate sum --against sum | jq .criteria

# Files and options that are refused.
while read -r text; do
    echo "$text" >c.json
    tell gate run --against run --criteria c.json
done <<'JSON'
{ "faster": [ { "percent": 10, "cases": 2 }, { "percent": 5, "cases": 1 } ] }
{ "faster": [] }
{ "counters": { "sm_aktive_percent": { "at_least": 70 } } }
{ "counters": {} }
{ "counters": { "sm_percent": {} } }
{ "counters": { "sm_percent": { "at_least": 70, "at_most": 60 } } }
{ }
JSON
tell gate run --against run --criteria nowhere.json
echo '{ "slowdown_percent": 2 }' >c.json
tell gate run --against run --criteria c.json --tolerance 2
tell gate run --against run --criteria c.json --promote
