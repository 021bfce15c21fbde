# If a config leaves no valid genome, the error names the constraint to relax.
. "$ROOT/tests/cli/tell"
small empty.json '"genes": { "THREADS": [32], "ROW_THREADS": [64] }'
tell run empty.json --out results
ls
