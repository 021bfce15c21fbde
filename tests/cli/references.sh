# Four ways to say what is correct but a kernel in double precision, each through try, run, export and the exported
# check, with faults that must be found; and references that are wrong themselves.
. "$ROOT/tests/cli/tell"
cuda=${CUDA_HOME:-/usr/local/cuda}
[[ -n ${CUDA_HOME:-} ]] || ! nvcc=$(command -v nvcc) || cuda=$(dirname "$(dirname "$(realpath "$nvcc")")")
export EVOTILE_TEMPLATES=$ROOT/tests/templates

# A template's config, with these cases.
config() {
    echo "{ \"template\": \"$1\", \"cases\": [ $2 ], \"device\": \"emulated:sm_90\", \"budget\": { \"trials\": 6 } }" >"${1##*/}.json"
}

passes() {
    "$EVOTILE" try "$1.json" ${2:+--genome "$2"} >log 2>&1 && echo "$1 $2: passes" || cat log
}

# The verdict on a genome with a fault, and the output that shows it.
fails() {
    local status=0
    "$EVOTILE" try "$1.json" --genome "$2" >log 2>&1 || status=$?
    echo "$1 $2: status $status, $(tail -1 log | sed -E 's/ (relative|at kernel).*(which.*)?/ .../; s/: [A-Z]+=[^:]*:/:/; s/: [a-z, ]+ inputs:/:/')"
}

# The one line about a template that is wrong.
refuses() {
    local status=0
    "$EVOTILE" try "$1.json" >log 2>&1 || status=$?
    echo "$2: status $status, $(sed -E "s|$PWD/||g; s/(first|second)_/..._/" log)"
}

# Searches, exports, compiles what was exported and runs its check: it accepts a right kernel and refuses a wrong one.
exports() {
    "$EVOTILE" run "$1.json" --out "run_$1" >log 2>&1 && "$EVOTILE" export "run_$1" --out "$1" >>log 2>&1 || cat log
    (
        cd "$1" && flags="-Wall -Wextra -Werror -I$cuda/include -c"
        gcc -std=c11 $flags -o /dev/null "$1.c" && gcc -std=gnu11 $flags -o /dev/null check.c || exit
        if [ -e reference.cpp ]; then
            g++ -std=c++17 $flags -O2 -o reference.o reference.cpp
        else
            gcc -std=gnu11 $flags -O2 -o reference.o reference.c
        fi
        gcc -std=gnu11 -O2 -w -no-pie "-I$cuda/include" -I. -o proof "$ROOT/tests/export/check_stand_in.c" "$1.c" \
            reference.o -Wl,-z,lazy,--unresolved-symbols=ignore-all -lm -lstdc++ && ./proof >log || cat log
        tail -1 log
        WRONG=1 ./proof | tail -1
    )
}

config rms_rows '{ "ROWS": 40, "COLS": 300 }, { "ROWS": 2, "COLS": 777 }'
config smooth_rows '{ "ROWS": 20, "COLS": 130 }, { "ROWS": 2, "COLS": 77, "WRAP": 1 }'
config running_sums '{ "ROWS": 20, "COLS": 330 }, { "ROWS": 3, "COLS": 77 }'
config take_columns '{ "ROWS": 6, "COLS": 40, "TAKEN": 9 }'
passes rms_rows
fails rms_rows FAULT=column
fails rms_rows FAULT=weights
fails rms_rows FAULT=bias
passes running_sums
fails running_sums FAULT=element
fails running_sums FAULT=last
passes take_columns
fails take_columns FAULT=next
fails take_columns FAULT=row
for template in rms_rows running_sums take_columns; do
    exports "$template"
done

# The default genome: what has its bug agrees, and nothing says that it is correct.
passes smooth_rows ORDER=outer,KEEP=registers
grep -c 'agrees\? with the default genome' log
grep -c correct log
fails smooth_rows FAULT=last
fails smooth_rows FAULT=row
"$EVOTILE" run smooth_rows.json --out run_smooth >/dev/null 2>&1
for verb in board summary; do
    "$EVOTILE" $verb run_smooth | grep -h 'default genome:'
    "$EVOTILE" $verb run_smooth --json | jq -r .judged
done
"$EVOTILE" board run_smooth | grep -o 'agrees with the default genome; '
"$EVOTILE" report run_smooth --out report.html >/dev/null 2>&1
grep -o 'A trial that is ok agrees[^<]*checked' report.html | head -n 1
"$EVOTILE" try smooth_rows.json --json | jq -r .judged
# What is exported says the same, and compiles without warnings.
tell export run_smooth --out smooth_rows
grep -E 'default genome|orrect' smooth_rows/smooth_rows.h
jq -c '.judged, [.reference_units[] | [.header, .genome, .specialised]]' smooth_rows/manifest.json
(
    cd smooth_rows && flags="-Wall -Wextra -Werror -I$cuda/include -c -o /dev/null"
    gcc -std=c11 $flags smooth_rows.c && gcc -std=c11 $flags reference_launch.c && gcc -std=gnu11 $flags check.c
    ls | grep -E '^(reference|variant)' | tr '\n' ' '
)
"$EVOTILE" replay smooth_rows --json | jq -c '[.rows[].passed]'

# A copy of smooth_rows whose default genome is changed by a sed script.
default_genome() {
    rm -rf broken && cp -r "$ROOT/tests/templates/smooth_rows" broken
    sed -i 's/"name": "smooth_rows"/"name": "broken"/' broken/template.json
    sed -i "$1" broken/template.json broken/kernel.cu
    refuses broken "$2"
}
config ./broken '{ "ROWS": 20, "COLS": 130 }'
default_genome 's/i < cols; i += THREADS) {/i + 1 < cols; i += THREADS) {/' 'the default genome leaves elements out'
default_genome 's/y\[to + i\] = .*/y[to + i] = to_half(sum \/ 3.0f + from_half(y[to + i]) * 0.0f);/' 'it reads its output'
default_genome 's/"specialised"/"float_atomics": true, "specialised"/' 'its results differ'
default_genome 's/"default": 64 }/"default": 64 }, "G": { "values": [0, 1], "default": 0 }/; s/"tensors": {/"constraints": [{ "require": "COLS < 100", "because": "of this test" }], "tensors": {/' 'it is not valid for a case'

# A template that doubles numbers, with this reference.
double() {
    rm -rf double && mkdir double && cp "$ROOT/tests/cli/references_program.py" double/
    cat >double/kernel.cu <<'CUDA'
extern "C" __global__ void twice(const float *x, float *y, int n) {
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n)
        y[i] = 2.0f * x[i];
}
CUDA
    cat >double/template.json <<JSON
{
  "format": 1, "name": "double", "about": "doubles numbers",
  "dimensions": { "N": { "minimum": 1, "maximum": 1000 } },
  "genes": { "THREADS": { "values": [32, 64], "default": 64 } },
  "tensors": { "x": { "dtype": "f32", "shape": ["N"], "role": "input" }, "y": { "dtype": "f32", "shape": ["N"], "role": "output" } },
  "source": "kernel.cu",
  "launches": [{ "kernel": "twice", "grid": ["ceil_div(N, THREADS)", 1, 1], "block": ["THREADS", 1, 1], "arguments": ["x", "y", { "i32": "N" }] }],
  "reference": $1,
  "operations": "N", "bytes": "8 * N"
}
JSON
}

# A program that answers wrongly.
program() {
    double "$1"
    refuses double "$2"
}
config ./double '{ "N": 100 }'
program '{ "command": ["python3", "references_program.py", "right"] }' 'a right program' | head -n 1
for how in crash nan shape float short nothing stale twice text; do
    program "{ \"command\": [\"python3\", \"references_program.py\", \"$how\"] }" "$how"
done
# Its answer to "begin" must come within a second, too: a shell starts sooner than Python on a loaded machine.
program '{ "command": ["sh", "-c", "read -r begin && echo \"{\\\"reference\\\": \\\"none\\\"}\" && exec sleep 600", "hangs"], "limit_s": 1 }' hang
program '{ "command": ["no_such_program"] }' 'no program'
with_python() {
    double '{ "python": "source.py", "limit_s": 20 }'
    echo "$1" >double/source.py
    refuses double "$2"
}
with_python 'def reference(case, x): return 2 * x' 'a right function' | head -n 1
with_python 'def reference(case, x): return x.reshape(-1, 4)' 'its shape'
with_python 'def reference(case, x): return x.astype("float32")' 'its dtype'
with_python 'def reference(case, x): return 1 / 0' 'it divides by zero'
with_python 'def reference(case, x): return (x, x)' 'two arrays'
with_python 'def other(case, x): return x' 'another name'
with_python 'import no_such_module' 'a missing module'

# Recorded answers of the wrong shape or dtype, and too few.
answers() {
    rm -rf recorded && cp -r "$ROOT/tests/templates/take_columns" recorded
    sed -i 's/"name": "take_columns"/"name": "recorded"/' recorded/template.json
    eval "$1"
    refuses recorded "$2"
}
config ./recorded '{ "ROWS": 6, "COLS": 40, "TAKEN": 9 }'
answers 'cp recorded/small_y.npy recorded/first_y.npy; cp recorded/small_y.npy recorded/second_y.npy' 'an answer of another shape'
answers 'cp recorded/first_y.npy recorded/first_x.npy; cp recorded/first_y.npy recorded/second_x.npy' 'an input of another shape'
answers 'sed -i "s/[a-z]*_columns.npy/first_y.npy/" recorded/template.json' 'another file of an input'
answers 'head -c 200 recorded/first_x.npy >x && mv x recorded/first_x.npy && cp recorded/first_x.npy recorded/second_x.npy' 'a truncated input'
answers 'sed -i "s/\"operations\"/\"stress\": [], \"operations\"/" recorded/template.json' 'other inputs'
answers 'sed -i "s/, \"y\": \"first_y.npy\"//" recorded/template.json' 'no file of an output'
config ./recorded '{ "ROWS": 7, "COLS": 40, "TAKEN": 9 }'
answers true 'another case'

# A source in the type real.
real() {
    rm -rf norm && cp -r "$ROOT/tests/templates/rms_rows" norm
    sed -i 's/"name": "rms_rows"/"name": "norm"/' norm/template.json
    sed -i "$1" norm/reference.cu
    refuses norm "$2"
}
config ./norm '{ "ROWS": 20, "COLS": 130 }'
real 's/    real sum = 0;/    real sum = 0; __syncthreads();/' 'a barrier'
real 's/sqrt(sum/sqrtf(sum/' 'a function of float'
real '1i #include <cuda_fp16.h>' 'a header of CUDA'
real 's/real sum = 0;/reel sum = 0;/' 'a type that is none'
