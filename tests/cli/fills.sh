# Templates whose inputs have a structure: integers in a range, a permutation, probabilities, files, numbers that differ
# from set to set, and what a setup writes. The honest kernel passes, each fault is refused, an index out of bounds is
# explained, a short search runs, and its export builds with nvcc.
. "$ROOT/tests/cli/tell"
cuda=${CUDA_HOME:-/usr/local/cuda}
[[ -n ${CUDA_HOME:-} ]] || ! nvcc=$(command -v nvcc) || cuda=$(dirname "$(dirname "$(realpath "$nvcc")")")
export EVOTILE_TEMPLATES=$ROOT/tests/templates

# A template's config, with these cases.
config() {
    echo "{ \"template\": \"$1\", \"cases\": [ $2 ], \"device\": \"emulated:sm_90\", \"budget\": { \"trials\": 6 } }" >"$1.json"
}

# The default genome passes every gate.
passes() {
    "$EVOTILE" try "$1.json" >log 2>&1 && echo "$1: passes" || cat log
    grep -c '^  .* ok ' log
}

# The verdict on a genome with a fault.
fails() {
    local status=0
    "$EVOTILE" try "$1.json" --genome "FAULT=$2" >log 2>&1 || status=$?
    echo "$1 $2: status $status, $(tail -1 log | sed -E 's/: .*: y: .*/: ... y .../; s/at 0x[0-9a-f]+/at .../; s/holds [-0-9]+ to [-0-9]+/holds .../g;
        s/: [A-Z].*=[0-9]+: /: ... /; s/thread .* of block [^ ]*/a thread/; s/[0-9]+ bytes (past|before)/... \1/; s/\([0-9]+ bytes\)/.../')"
}

# Searches, exports and builds the export.
exports() {
    "$EVOTILE" run "$1.json" --out "run_$1" >log 2>&1 && "$EVOTILE" export "run_$1" --out "$1" >>log 2>&1 || cat log
    (
        cd "$1" && flags="-Wall -Wextra -Werror -I$cuda/include -c -o /dev/null"
        gcc -std=c11 $flags "$1.c" && gcc -std=gnu11 $flags check.c && gcc -std=gnu11 -O3 $flags check.c
        make -s NVCC="$cuda/bin/nvcc" >log 2>&1 && [[ ! -s log ]] && echo "$1: builds" || cat log
    )
}

config csr_product '{ "ROWS": 70, "COLS": 50, "PER_ROW": 12 }'
config paged_gather '{ "SEQUENCES": 7, "PAGES": 6, "WIDTH": 20 }'
config weighted_pick '{ "ROWS": 70, "COLS": 50 }'
passes csr_product
fails csr_product sorted_columns
fails csr_product skips_first
fails csr_product beyond
passes paged_gather
fails paged_gather pages_in_order
fails paged_gather whole_pages
fails paged_gather unused_page
passes weighted_pick
fails weighted_pick identity
fails weighted_pick uniform_weights
fails weighted_pick first_shift
fails weighted_pick no_gain
fails weighted_pick even_bounds
for template in csr_product paged_gather weighted_pick; do
    exports "$template"
done
grep -A1 'Numbers of the call' weighted_pick/weighted_pick.h
grep -h 'lengths\|picks' csr_product/csr_product.h csr_product/csr_product.c
grep -l csr_starts csr_product/*.o csr_product/source/*.cubin

# A setup that writes out of bounds is the template's mistake.
cp -r "$ROOT/tests/templates/csr_product" broken
sed -i 's/row_start\[ROWS\] = start/row_start[ROWS + 1] = start/' broken/setup.cu
sed -i 's/"name": "csr_product"/"name": "broken"/' broken/template.json
echo '{ "template": "./broken", "cases": [ { "ROWS": 70, "COLS": 50, "PER_ROW": 12 } ], "device": "emulated:sm_90" }' >broken.json
"$EVOTILE" try broken.json 2>&1 | tail -1 | sed -E 's/at 0x[0-9a-f]+/at .../; s/\([0-9]+ bytes\)/.../'
