#!/usr/bin/env bash
# Proposals that people wrote, and what the judge says of them. Those of one strategy for one problem; all with
# EVOTILE_LONG=1.
files=(rms_norm/insight.txt)
[[ -n ${EVOTILE_LONG:-} ]] && files=()
exec python3 "$ROOT/tests/evolve/proposals/proposals.py" "${files[@]}"
