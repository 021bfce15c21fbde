# Tensors that a caller fills or clears before each call, and inputs that are variables of the module: honest kernels pass,
# those that count on what an earlier call left are refused, a short search runs, its export builds without warnings, checks
# itself on a stand-in for the GPU and replays.
. "$ROOT/tests/cli/tell"
cuda=${CUDA_HOME:-/usr/local/cuda}
[[ -n ${CUDA_HOME:-} ]] || ! nvcc=$(command -v nvcc) || cuda=$(dirname "$(dirname "$(realpath "$nvcc")")")
export EVOTILE_TEMPLATES=$ROOT/tests/templates

# A template's config, with these cases.
config() {
    echo "{ \"template\": \"$1\", \"cases\": [ $2 ], \"device\": \"emulated:sm_90\", \"budget\": { \"trials\": 6 } }" >"$1.json"
}

# The verdict on a genome, and why.
try() {
    local status=0
    "$EVOTILE" try "$1.json" ${2:+--genome "$2"} >log 2>&1 || status=$?
    if [[ $status == 0 ]]; then echo "$1 $2: passes"; else
        echo "$1 $2: status $status, $(tail -1 log | sed -E 's/[0-9.]+e[-+][0-9]+/*/g')"
    fi
}

# Searches, exports, compiles what was exported and runs its check: it accepts a right kernel and refuses a wrong one.
exports() {
    sed -i 's/^{/{ "genes": { "FAULT": ["none"] },/' "$1.json"
    "$EVOTILE" run "$1.json" --out "run_$1" >log 2>&1 && "$EVOTILE" export "run_$1" --out "$1" >>log 2>&1 || cat log
    (
        cd "$1" && mkdir source && echo code >source/reference.cubin
        flags="-Wall -Wextra -Werror -I$cuda/include -Isource -c -o /dev/null"
        gcc -std=c11 $flags "$1.c" && gcc -std=c11 $flags reference_launch.c && gcc -std=gnu11 $flags check.c &&
            gcc -std=gnu11 -O2 -w -no-pie "-I$cuda/include" -I. -o proof "$ROOT/tests/export/check_stand_in.c" "$1.c" \
                reference.c -Wl,-z,lazy,--unresolved-symbols=ignore-all -lm && ./proof >log || cat log
        tail -1 log
        WRONG=1 ./proof | tail -1
        ./proof --shape "$2" | tail -1
        rm -r source proof log
    )
    "$EVOTILE" replay "$1" --json | jq -c '[.rows[].passed]'
}

config residual_inplace '{ "ROWS": 5, "COLS": 133 }, { "ROWS": 16, "COLS": 512 }'
config histogram '{ "N": 5000 }, { "N": 2001, "BINS": 64 }'
config histogram_add '{ "N": 5000 }, { "N": 2001, "BINS": 64 }'
config constant_filter '{ "H": 13, "W": 130 }, { "H": 20, "W": 40, "R": 1 }'
for genome in READS=again FAULT=adds_nothing FAULT=once FAULT=half_a_call FAULT=in_turns FAULT=sees_its_sum; do
    try residual_inplace $genome
done
for genome in COUNTS=global FAULT=overwrites,BLOCKS=1 FAULT=once FAULT=drops_last; do
    try histogram $genome
    try histogram_add $genome
done
for genome in TAPS=global FAULT=transposed FAULT=too_small FAULT=other_name FAULT=writes_taps,TAPS=global FAULT=keeps_taps; do
    try constant_filter $genome
done
exports residual_inplace "ROWS=2 COLS=9"
exports histogram "N=99 BINS=3"
exports histogram_add "N=99 BINS=3"
exports constant_filter "H=3 W=4 R=1"
grep -hE 'void .*(read and written|clear it|a variable)|^ \* (A tensor that is copied|share)' */*.h | sort -u
grep -h -A 1 'status = copy_to' constant_filter/constant_filter.c
grep -h 'before\[0\]' residual_inplace/reference_launch.c
# A stand-in for the caller that forgets to fill or clear: the check refuses the kernel.
for template in residual_inplace histogram histogram_add; do
    (
        cd $template
        sed -i 's/^    prepare(&set, shape, 0);$//' verify.h
        gcc -std=gnu11 -O2 -w -no-pie "-I$cuda/include" -I. -o proof "$ROOT/tests/export/check_stand_in.c" $template.c \
            reference.c -Wl,-z,lazy,--unresolved-symbols=ignore-all -lm
        ./proof | tail -1
    )
done
# A reference that neither takes the taps nor declares their variable.
mkdir mine
cp -r "$ROOT/tests/templates/constant_filter" mine/
sed -i 's/filter\[/elsewhere[/' mine/constant_filter/plain.cu
"$EVOTILE" try constant_filter.json --templates mine 2>&1 | tail -1
# What is read and written may have a fill of its own, which the reference gets, too.
cp -r "$ROOT/tests/templates/residual_inplace" mine/filled
cat >mine/filled/reference.py <<'PYTHON'
import numpy
def reference(case, x_before, update, weight):
    if not set(x_before.flat) <= {0, 1, 2}:
        raise SystemExit("x does not hold its fill before a call")
    x = x_before + update
    return {"x": x, "y": x / numpy.sqrt(numpy.mean(x * x, axis=1, keepdims=True) + 1e-6) * weight}
PYTHON
python3 - <<'PYTHON'
import re
path = "mine/filled/template.json"
text = open(path).read().replace('"name": "residual_inplace"', '"name": "filled"')
text = text.replace('"role": "inout"', '"role": "inout", "fill": { "integers": 3 }')
text = re.sub(r'"reference": \{.*?\n  \},\n', '"reference": { "python": "reference.py" },\n', text, flags=re.S)
text = re.sub(r'"cpu_reference"[^\n]*\n|"stress": \[.*?\n  \],\n', "", text, flags=re.S)
open(path, "w").write(text)
PYTHON
echo '{ "template": "./mine/filled", "cases": [ { "ROWS": 16, "COLS": 512 } ], "device": "emulated:sm_90" }' >filled.json
try filled
try filled FAULT=once
