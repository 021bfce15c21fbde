# Templates whose launches name C++ templates by expressions, whose genes are texts and real numbers, and whose genes
# change how much is computed: honest genomes pass, faults are refused, random genomes are right, the export builds and
# checks itself on a stand-in for the GPU, and replays.
. "$ROOT/tests/cli/tell"
cuda=${CUDA_HOME:-/usr/local/cuda}
[[ -n ${CUDA_HOME:-} ]] || ! nvcc=$(command -v nvcc) || cuda=$(dirname "$(dirname "$(realpath "$nvcc")")")
export EVOTILE_TEMPLATES=$ROOT/tests/templates

# A template's config, with more keys.
config() {
    echo "{ \"template\": \"$1\", \"cases\": [ { \"N\": 3001 }, { \"N\": 4096 } ], \"device\": \"emulated:sm_90\",
            \"budget\": { \"trials\": 20 }, \"search\": { \"strategy\": \"random\" }, \"seed\": 1 $2 }" >"$1.json"
}

passes() {
    "$EVOTILE" try "$1.json" ${2:+--genome "$2"} >log 2>&1 && echo "$1 $2: passes" || cat log
}

# The verdict on a genome with a fault.
fails() {
    local status=0
    "$EVOTILE" try "$1.json" --genome "$2" >log 2>&1 || status=$?
    echo "$1 $2: status $status, $(tail -1 log | sed -E 's/: N=[0-9]+: .*/: .../')"
}

# Searches at random, exports, compiles what was exported and runs its check: it accepts a right kernel and refuses a
# wrong one.
exports() {
    "$EVOTILE" run "$1.json" --out "run_$1" >log 2>&1 && "$EVOTILE" export "run_$1" --out "$1" >>log 2>&1 || cat log
    "$EVOTILE" board "run_$1" | head -1
    "$EVOTILE" replay "$1" --json | jq -c '[.rows[].passed]'
    (
        cd "$1" && flags="-Wall -Wextra -Werror -I$cuda/include -c -o /dev/null"
        gcc -std=c11 $flags "$1.c" && gcc -std=gnu11 $flags check.c &&
            gcc -std=gnu11 -O2 -w -no-pie "-I$cuda/include" -I. -o proof "$ROOT/tests/export/check_stand_in.c" "$1.c" \
                reference.c -Wl,-z,lazy,--unresolved-symbols=ignore-all -lm && ./proof >log || cat log
        tail -1 log
        WRONG=1 ./proof | tail -1
    )
}

config vector_copy ', "genes": { "FAULT": ["none"] }'
passes vector_copy VECTOR=2,TAIL=apart
passes vector_copy VECTOR=1
config vector_copy
fails vector_copy FAULT=no_tail
fails vector_copy FAULT=one_item
config vector_copy ', "genes": { "FAULT": ["none"] }'
exports vector_copy
# the machine code of the champion, and of nvcc, have the names that the launchers use
for name in $(grep -ho '"_Z[^"]*"' vector_copy/vector_copy.c | tr -d '"'); do
    grep -q "$name" vector_copy/variant_*.cubin && echo 'is in the machine code'
done
grep -ho '"_Z[^"]*"' vector_copy/reference_launch.c
grep -h 'EVOTILE_KERNELS' vector_copy/variant_1.h
"${nvcc:-$cuda/bin/nvcc}" -arch=sm_90 --std=c++17 -cubin -o own.cubin vector_copy/kernel.cu &&
    for name in $(grep -ho '"_Z[^"]*"' vector_copy/vector_copy.c | tr -d '"'); do
        grep -q "$name" own.cubin && echo "is in nvcc's"
    done

echo
config newton_root ', "genes": { "STOP": [1.25e-7, 1e-5, 0.0001] }'
passes newton_root REAL=double,LOAD=four,BOUNDS=block,STOP=1.25e-7
fails newton_root STOP=0.25
config newton_root
fails newton_root STOP=0.25
fails newton_root STOP=0.2
config newton_root ', "genes": { "STOP": [1.25e-7, 1e-5, 0.0001] }'
exports newton_root
grep -cE '^#define (REAL (float|double)|LOAD float[24]?|BOUNDS .*|STOP [0-9.e-]+)$' newton_root/variant_1.h
tell export run_newton_root --format t4 --out newton.t4.json
jq -c '[.results[].configuration.STOP] | unique' newton.t4.json
"$EVOTILE" simulate newton.t4.json --seeds 2 --strategy random --trials 5 >log 2>&1 && echo 'read again' || cat log
"$EVOTILE" space newton_root.json --json | jq -c '.genes[] | select(.name == "STOP" or .name == "LOAD") | {name, values, default}'

echo
config mean_of_sines
fails mean_of_sines FAULT=fewer
fails mean_of_sines FAULT=last,POINTS=48
config mean_of_sines ', "genes": { "FAULT": ["none"] }'
exports mean_of_sines
"$EVOTILE" board run_mean_of_sines --json | jq -c '[.rows[].genome | capture("POINTS=(?<p>[0-9]+)").p] | .[0]'
jq -c '[.objective, (.ratio_to_default > 2)]' mean_of_sines/manifest.json
"$EVOTILE" replay mean_of_sines | grep -o '^  operations / us' | sort -u
config mean_of_sines ', "minimise": "energy"'
tell space mean_of_sines.json
sed -i 's/"trials": 20/"target_us": 1/; s/, "minimise": "energy"//' mean_of_sines.json
tell space mean_of_sines.json

echo
config two_pass_max
fails two_pass_max FAULT=other_threads
config two_pass_max ', "genes": { "FAULT": ["none"] }'
exports two_pass_max
grep -ho '"_Z[^"]*"' two_pass_max/two_pass_max.c
mkdir mine
cp -r "$ROOT/tests/templates/two_pass_max" mine/
echo '#include "pass.inc"' >>mine/two_pass_max/pass.inc
tell try two_pass_max.json --templates mine
