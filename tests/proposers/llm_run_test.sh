#!/usr/bin/env bash
# Runs whose proposer is llm: recorded, replayed, killed and resumed; and the key, which no file of them has.
exec python3 "$ROOT/tests/proposers/llm_run.py"
