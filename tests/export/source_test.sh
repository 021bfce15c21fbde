#!/usr/bin/env bash
# nvcc compiles the source of what is exported of each template, for which it needs no GPU: `make SOURCE=1`, with the
# references and setup. With EVOTILE_LONG=1 all templates, else three. $TEMPLATES names others.
set -u
nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
[ -x "$nvcc" ] || { echo "there is no nvcc"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit
export EVOTILE_TEMPLATES=$ROOT/tests/templates

# The first probe case of a template.json or problem.json, with the first value of what has no default.
first_probe() {
    python3 - "$1" <<'PYTHON'
import json
import re
import sys

text = re.sub(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', lambda match: match[1] or "", open(sys.argv[1]).read(), flags=re.S)
template = json.loads(text)
case = template["probe_cases"][0]
for name, dimension in template["dimensions"].items():
    if "default" not in dimension and name not in case:
        case[name] = dimension["values"][0]
print(json.dumps(case))
PYTHON
}

# Searches a template or a solution, exports it and compiles its source.
compiles() {
    local name=${1//\//_} problem=$ROOT/$2/problem.json
    [ -e "$problem" ] || problem=$ROOT/$2/template.json
    echo "{ \"template\": \"$1\", \"cases\": [ $(first_probe "$problem") ], \"device\": \"emulated:sm_90\" }" >"$name.json"
    "$EVOTILE" run "$name.json" --templates "$ROOT/${2%/*}" --trials 2 --out "run_$name" >log 2>&1 &&
        "$EVOTILE" export "run_$name" --out "$name" >>log 2>&1 &&
        make -C "$name" SOURCE=1 NVCC="$nvcc" no_driver.bin >>log 2>&1 && ! grep -n "[^e]: warning" log && return
    echo "FAILED $1"
    grep -E 'error|evotile:|warning' log | head -n 5
    return 1
}

all=$(cd "$ROOT" && ls -d tests/templates/*/ templates/*/ | grep -v /lib/ | sed 's|/$||')
[ -n "${EVOTILE_LONG:-}" ] || all='tests/templates/mean_loss tests/templates/csr_product tests/templates/smooth_rows'
failed=0
for path in ${TEMPLATES:-$all}; do
    solutions=$(cd "$ROOT/$path" && ls -d */solution.json 2>/dev/null | sed 's|/.*||')
    for solution in ${solutions:-.}; do
        name=${path##*/}
        [ "$solution" = . ] || name+=/$solution
        compiles "$name" "$path" || failed=1
    done
done
exit $failed
