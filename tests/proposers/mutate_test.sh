#!/usr/bin/env bash
# mutate on the three starts: every edit is right on the emulated device, answers depend on the request alone, search
# blocks match once, and what the history has is not proposed again. Chains of edits of edits hold, too.
exec python3 "$ROOT/tests/proposers/mutate.py"
