#!/usr/bin/env bash
# Verbs on runs whose run.db is damaged: see damaged.py.
set -eu
. tests/cli/tell
cd "$(mktemp -d)"
"$EVOTILE" run recorded:"$ROOT"/tests/spaces/pnpoly_RTX_3090.json.gz --trials 20 --seed 1 --out recorded >log 2>&1 || { cat log; exit 1; }
small c.json
"$EVOTILE" run c.json --out compiled >log 2>&1 || { cat log; exit 1; }
python3 "$ROOT"/tests/runs/damaged.py "$EVOTILE" recorded compiled
