# Templates whose tensors are bytes, labels of 64 bits, masks and 8-bit floats: the honest kernel passes, each fault is
# refused, a short search runs, and its export builds without warnings and checks itself, on a stand-in for the GPU.
. "$ROOT/tests/cli/tell"
cuda=${CUDA_HOME:-/usr/local/cuda}
[[ -n ${CUDA_HOME:-} ]] || ! nvcc=$(command -v nvcc) || cuda=$(dirname "$(dirname "$(realpath "$nvcc")")")
export EVOTILE_TEMPLATES=$ROOT/tests/templates

# A template's config, with these cases.
config() {
    echo "{ \"template\": \"$1\", \"cases\": [ $2 ], \"device\": \"emulated:sm_90\", \"budget\": { \"trials\": 6 } }" >"$1.json"
}

# The default genome passes.
passes() {
    "$EVOTILE" try "$1.json" ${2:+--genome "$2"} >log 2>&1 && echo "$1 $2: passes" || cat log
}

# The verdict on a genome with a fault, and the output that shows it. By the seed, which each try draws, masks of random
# numbers may hide a fault that the template's recipe shows.
fails() {
    local status=0
    "$EVOTILE" try "$1.json" --genome "$2" >log 2>&1 || status=$?
    echo "$1 $2: status $status, $(tail -1 log | sed -E 's/: single elements lead inputs: skipped:/: skipped:/; s/ (relative|at kernel).*(which.*)?/ .../')"
}

# Searches, exports, compiles what was exported and runs its check: it accepts a right kernel and refuses a wrong one.
exports() {
    "$EVOTILE" run "$1.json" --out "run_$1" >log 2>&1 && "$EVOTILE" export "run_$1" --out "$1" >>log 2>&1 || cat log
    (
        cd "$1" && flags="-Wall -Wextra -Werror -I$cuda/include -c -o /dev/null"
        gcc -std=c11 $flags "$1.c" && gcc -std=gnu11 $flags check.c &&
            gcc -std=gnu11 -O2 -w -no-pie "-I$cuda/include" -I. -o proof "$ROOT/tests/export/check_stand_in.c" "$1.c" \
                reference.c -Wl,-z,lazy,--unresolved-symbols=ignore-all -lm && ./proof >log || cat log
        tail -1 log
        WRONG=1 ./proof | tail -1
    )
}

config int8_product '{ "M": 9, "N": 16, "K": 36 }'
config gather_rows '{ "N": 37, "ROWS": 11, "COLS": 40 }'
config scale_fp8 '{ "ROWS": 7, "COLS": 41 }, { "ROWS": 4, "COLS": 64, "E5M2": 1 }'
passes int8_product
fails int8_product FAULT=off_by_one
passes gather_rows
fails gather_rows FAULT=next_row
fails gather_rows FAULT=rounded_key
fails gather_rows FAULT=true_is_two
passes scale_fp8
passes scale_fp8 CONVERT=integer
fails scale_fp8 CONVERT=integer,FAULT=bias
fails scale_fp8 FAULT=wide_load
for template in int8_product gather_rows scale_fp8; do
    exports "$template"
done
grep -h 'unusable(tensors' gather_rows/gather_rows.c | sort -u
grep -h 'aligned to' scale_fp8/scale_fp8.h
grep -h 'f64 = ' scale_fp8/reference_launch.c
