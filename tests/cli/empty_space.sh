# A config that leaves no valid genome says which constraint to loosen.
. "$ROOT/tests/cli/tell"
small empty.json '"genes": { "THREADS": [32], "ROW_THREADS": [64] }'
tell run empty.json --out results
ls
