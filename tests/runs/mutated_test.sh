#!/usr/bin/env bash
# Verbs on mutated folders: see mutated.py. 20,000 with EVOTILE_LONG=1, else a sample.
set -eu
. tests/cli/tell
cd "$(mktemp -d)"
{
    "$EVOTILE" run recorded:"$ROOT"/tests/spaces/pnpoly_RTX_3090.json.gz --trials 20 --seed 1 --out recorded
    cp -rL "$ROOT/tests/templates/scaled_add" template
    small c.json
    sed -i 's/"softmax_rows"/"template"/' c.json
    "$EVOTILE" run c.json --templates . --out run
    "$EVOTILE" export run --out frozen
} >log 2>&1 || { cat log; exit 1; }
count=100
[ "${EVOTILE_LONG:-0}" = 1 ] && count=20000
python3 "$ROOT"/tests/runs/mutated.py "$EVOTILE" . "${COUNT:-$count}"
