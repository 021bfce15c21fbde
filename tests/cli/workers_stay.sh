# Workers of an earlier session that do not go are waited for, and then named: nobody times beside them.
. "$ROOT/tests/cli/tell"
small c.json
"$EVOTILE" run c.json --out run >/dev/null 2>&1
exec 9>run/workers.lock
flock 9
tell resume run --trials 9
exec 9>&-
tell resume run --trials 4 2>&1 | tail -n 2
