#!/usr/bin/env bash
# llm against a local stub of the API: streams, retries, limits, garbage, a key that shows nowhere, record and replay.
exec python3 "$ROOT/tests/proposers/llm.py"
