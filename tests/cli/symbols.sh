# A solution decides how its kernel takes an input of the problem: as an argument, as the variable that the problem names,
# or as a variable of its own name. All are searched together, and exports of each build and check themselves.
. "$ROOT/tests/cli/tell"
export EVOTILE_TEMPLATES=$PWD
from=$ROOT/tests/templates/constant_filter

mkdir -p filter/{named,renamed,argument}
cp "$from"/{plain.cu,reference.cu,reference.c} filter
grep -v '^ *//' "$from/template.json" >template.json
of_solution='.specialised, .genes, .constraints, .macros, .source, .launches'
jq "del($of_solution) | .format = 2 | .name = \"filter\"" template.json >filter/problem.json
jq '{format: 2, specialised, genes, macros, source, launches} | .genes.FAULT.values = ["none", "keeps_taps"] | .genes.TAPS.values = ["constant", "global"]' \
    template.json >filter/named/solution.json
jq '.symbols = {taps: "weights"}' filter/named/solution.json >filter/renamed/solution.json
jq '.launches[0].arguments += ["taps"]' filter/named/solution.json >filter/argument/solution.json
sed '/FAULT_TOO_SMALL$/,/^#endif/c SPACE float filter[SIDE * SIDE];' "$from/kernel.cu" |
    sed -E '/FAULT_WRITES_TAPS/,/^#endif/d; s/FAULT == FAULT_TOO_SMALL \? i % SIDE : i/i/; /FAULT_TRANSPOSED/,+1d' >filter/named/kernel.cu
sed -E 's/\bfilter\b/weights/g' filter/named/kernel.cu >filter/renamed/kernel.cu
sed -E '/^SPACE/d; s/int W\)/int W, const float *filter)/; s/float tap\(int i\)/float tap(const float *filter, int i)/; s/tap\(i\)/tap(filter, i)/' \
    filter/named/kernel.cu >filter/argument/kernel.cu
echo '{ "template": "filter", "solutions": "all", "cases": [{ "H": 9, "W": 70 }], "device": "emulated:sm_90", "budget": { "trials": 12 },
  "genes": { "named": { "FAULT": ["none"] }, "renamed": { "FAULT": ["none"] }, "argument": { "FAULT": ["none"] } } }' >c.json

echo "--- each way is right, and a kernel that keeps the first taps is not"
for solution in named renamed argument; do
    for fault in none keeps_taps; do
        sed 's/"genes".*/"about": "" }/' c.json >any.json
        "$EVOTILE" try any.json --genome "$solution: FAULT=$fault" --json 2>/dev/null | jq -r "\"$solution $fault: \" + .verdict"
    done
done

echo "--- one board, exports of each"
"$EVOTILE" run c.json --out run >/dev/null 2>log || cat log
"$EVOTILE" board run --json --all | jq -c '[.rows[].solution] | unique'
for solution in named renamed argument; do
    "$EVOTILE" export run --solution $solution --out $solution >log 2>&1 || cat log
    grep -o 'copy_to_variable(&[a-z_0-9]*, "[a-z]*"' $solution/$solution.c | sort -u
    "$EVOTILE" replay $solution --json 2>/dev/null | jq -c '[.rows[].passed]'
done

echo "--- mistakes"
mistake() {
    cp filter/renamed/solution.json kept.json
    jq "$1" kept.json >filter/renamed/solution.json
    tell space c.json | sed -E '1d; s|[^ ]*/solution.json:[0-9]+|solution.json:N|'
    cp kept.json filter/renamed/solution.json
}
mistake '.symbols = {tabs: "weights"}'
mistake '.symbols = {taps: "a::b"}'
mistake '.symbols = {out: "weights"}'
mistake '.symbols = ["taps"]'
mistake '.launches[0].arguments += ["taps"]'
sed -i 's/weights/missing/' filter/renamed/solution.json
"$EVOTILE" try c.json --solution renamed 2>&1 | tail -1
cp "$from/template.json" . && mkdir one && cp "$from"/*.c* one && sed 's/"format": 1,/&\n"symbols": {},/; s/constant_filter"/one"/' template.json >one/template.json
echo '{ "template": "one", "cases": [{ "H": 9, "W": 70 }], "device": "emulated:sm_90" }' >one.json
tell space one.json | sed -E 's|[^ ]*/one/|one/|'
