# SIGINT and SIGTERM finish the trials in flight, and the output says how to continue.
. "$ROOT/tests/cli/tell"
small c.json
sed -i 's/"trials": 3/"time": "60s"/' c.json
for signal in INT TERM; do
    "$EVOTILE" run c.json --out run$signal >/dev/null 2>said$signal &
    run=$!
    wait_for run$signal
    kill -$signal $run
    wait $run
    echo "$signal: status $?"
    grep -o "evotile resume run$signal" said$signal | head -n 1
done
