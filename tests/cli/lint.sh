# `lint` finds what is planted: an input that nothing reads, a gene without effect, references that disagree, a
# constraint that never binds, a value that never compiles, an output with a gap, a tolerance that lets mutants pass.
. "$ROOT/tests/cli/tell"
wrong() { # lints and prints what is wrong, and the exit status
    local status=0
    "$EVOTILE" lint "$@" --device emulated:sm_90 --json >found 2>messages || status=$?
    jq -r '.findings[] | select(.result == "WRONG") | "\(.check) \(.subject): \(.text)"' found | cut -c1-100
    echo "status $status"
}
fresh() {
    rm -rf mine mine.json
    "$EVOTILE" new mine 2>/dev/null
}
fresh
"$EVOTILE" lint mine.json --device emulated:sm_90 2>/dev/null | sed 's/  */ /g' | grep -v ^mutants
# Each mutant says what was changed where, in the author's own files.
jq -r '.findings[] | select(.check == "mutants") | .subject' <("$EVOTILE" lint mine --mutants 6 --json \
    --device emulated:sm_90 2>/dev/null) | sed 's/:[0-9]*$/:N/'
wrong mine
wrong mine/first --mutants 0

echo an input that nothing reads
sed -i 's|"tensors": {|&\n    "z": { "dtype": "f32", "shape": ["ROWS"], "role": "input", "alignment": 4 },|' mine/problem.json
sed -i 's|"arguments": \["x", "y"|"arguments": ["x", "y", "z"|' mine/first/solution.json
sed -i 's|float \*y, int columns|float *y, const float *z, int columns|' mine/first/kernel.cu
wrong mine.json --mutants 0

echo a gene without effect
fresh
sed -i 's|"genes": {|&\n    "SPARE": { "values": [1, 2, 3], "default": 1 },|' mine/first/solution.json
wrong mine.json --mutants 0

echo a gene that only a comment has is without effect, one in a launch is not
sed -i 's|"smem": 0|"smem": "16 * SPARE"|' mine/first/solution.json
wrong mine.json --mutants 0

echo references that disagree
fresh
cat >mine/reference.c <<'C'
#include <stdint.h>
void mine_reference(const int64_t *dimensions, void *const *tensors) {
    for (int64_t row = 0; row < dimensions[0]; row++) {
        const float *x = (const float *)tensors[0] + row * dimensions[1];
        double *y = (double *)tensors[1] + row * dimensions[1], sum = 0;
        for (int64_t i = 0; i + 1 < dimensions[1]; i++) sum += x[i];
        for (int64_t i = 0; i < dimensions[1]; i++) y[i] = x[i] - sum / dimensions[1];
    }
}
C
sed -i 's|"stress"|"cpu_reference": "reference.c", &|' mine/problem.json
wrong mine.json
cp mine/reference.c .
fresh
sed 's|real \*y|float *y|; s|real sum|float sum|; s|_reference|_plain|; s|/ columns|/ (columns + 1)|' mine/reference.cu >mine/plain.cu
sed -i 's|"stress"|"plain": { "source": "plain.cu", "launches": [ { "kernel": "mine_plain",\n "grid": ["ceil_div(ROWS, 64)", 1, 1], "block": [64, 1, 1], "arguments": ["x", "y", { "i32": "ROWS" }, { "i32": "COLUMNS" }] } ] },\n  &|' mine/problem.json
wrong mine.json

echo references that disagree at a reference case alone
fresh
sed 's|sum / dim|(sum + (dimensions[1] == 5)) / dim|; s|i + 1 <|i <|' reference.c >mine/reference.c
sed -i 's|"stress"|"cpu_reference": "reference.c", &|' mine/problem.json
wrong mine.json --mutants 0
sed -i 's|"stress"|"reference_cases": [ { "ROWS": 1, "COLUMNS": 5 }, { "ROWS": 99, "COLUMNS": 9999 } ], &|' mine/problem.json
wrong mine.json --mutants 0
sed -i 's|"COLUMNS": 5 }|"COLUMNS": 6 }|' mine/problem.json
wrong mine.json --mutants 0
jq -r '.findings[] | select(.check == "references" and .result == "note") | .text' found

sed -i 's|"reference_cases": .*\], "stress"|"reference_cases": [], "stress"|' mine/problem.json
tell lint mine.json --device emulated:sm_90 2>&1 | tail -2
echo a constraint that never binds
fresh
sed -i 's|"constraints": \[|&\n    { "require": "THREADS * ITEMS <= 16384", "because": "of nothing" },|' mine/first/solution.json
wrong mine.json --mutants 0

echo a value that never compiles, and one that no valid genome has
fresh
sed -i 's|\[1, 2, 4, 8, 16\]|[1, 2, 3, 4, 8, 16]|; s|"constraints": \[|&\n    { "require": "THREADS != 32", "because": "of a test" },|' mine/first/solution.json
echo 'static_assert(ITEMS != 3, "three");' >>mine/first/kernel.cu
wrong mine.json --mutants 0
jq -r '.findings[] | select(.check == "values" and .result == "note") | .subject' found

echo an output with a gap
fresh
sed -i 's|if (first + i < columns)$|if (first + i < columns - (columns > 900))|' mine/first/kernel.cu
wrong mine.json

echo a tolerance that is too wide
fresh
sed -i 's|"role": "output"|&, "tolerance": { "absolute": 1e5 }|' mine/problem.json
"$EVOTILE" lint mine.json --device emulated:sm_90 --json >found 2>/dev/null
echo "status $?"
jq -c '[.caught + .not_caught == 12, .not_caught > 3]' found
jq -r .summary found | grep -c 'not caught: .*kernel.cu:[0-9]*; '

echo a kernel that is wrong is not broken further
fresh
sed -i 's|sum / columns|sum / (columns + 1)|' mine/first/kernel.cu
wrong mine.json | cut -c1-60

# Bad input.
tell lint mine.json --device cuda:0
tell lint mine.json --goal 1
tell lint mine.json --mutants 1001
tell lint nothing_of_this_name | sed "s|$ROOT|ROOT|g"
tell lint "recorded:$ROOT/tests/spaces/attention_H200.json.gz" | sed "s|$ROOT|ROOT|g"
# Reference cases need no genome that can do them: a tensor map of gemm/hopper cannot be made for most of them.
"$EVOTILE" lint gemm/hopper --device emulated:sm_90 --mutants 0 --json 2>/dev/null |
    jq -c '.wrong, (.findings[] | select(.check == "references") | [.subject, .result, .text])'
