# Resume waits for the workers of an earlier session to exit, and then reports them, so that no two sessions time
# concurrently.
. "$ROOT/tests/cli/tell"
export EVOTILE_INTERVALS=worker_exit=0.2
small c.json
"$EVOTILE" run c.json --out run >/dev/null 2>&1
exec 9>run/workers.lock
flock 9
tell resume run --trials 9
exec 9>&-
tell resume run --trials 4 2>&1 | tail -n 2
