#!/usr/bin/env bash
# manual: a session. The question appears in the folder, `done` ends the wait, what is missing is said, and an interrupted
# wait goes on with the edits that were made.
exec python3 "$ROOT/tests/proposers/manual.py"
