# A run that another process has open cannot be resumed.
. "$ROOT/tests/cli/tell"
small c.json
sed -i 's/"trials": 3/"time": "60s"/' c.json
"$EVOTILE" run c.json --out run >/dev/null 2>&1 &
first=$!
wait_for run
tell resume run
kill -INT $first
wait $first
echo "the first: status $?"
