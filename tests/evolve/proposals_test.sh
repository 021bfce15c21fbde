#!/usr/bin/env bash
# Proposals that people wrote, and what the judge says of them. Of two problems one strategy; all with EVOTILE_LONG=1.
files=(rms_norm/insight.txt gelu_product/full.txt)
[[ -n ${EVOTILE_LONG:-} ]] && files=()
exec python3 "$ROOT/tests/evolve/proposals/proposals.py" "${files[@]}"
