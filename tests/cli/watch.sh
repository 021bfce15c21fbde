# watch on a run in progress, a killed run and a finished run.
. "$ROOT/tests/cli/tell"
export LC_ALL=C COLUMNS=100 LINES=24
small c.json '"seed": 7'
sed 's/"trials": 3/"time": "120s"/' c.json >long.json
figures() { sed -E 's/[0-9]+:[0-9]{2}:[0-9]{2}/TIME/g; s/[0-9]+(\.[0-9]+)?/N/g'; }

"$EVOTILE" run c.json --trials 12 --out run >/dev/null 2>&1
echo "finished, in a log:"
"$EVOTILE" watch run | figures
echo "once:"
"$EVOTILE" watch run --once | sed 's/ \*.*//' | figures | head -n 4
"$EVOTILE" watch run --once | sed -n '$p' | grep -c '^  10 '
echo "as JSON:"
"$EVOTILE" watch run --json | tr -d '\t ' | grep -E '^"(over|phase|told|trials|ok|goal_name)":' | head -n 5

echo "in progress:"
"$EVOTILE" run long.json --out long >/dev/null 2>&1 &
run=$!
wait_for long
until "$EVOTILE" watch long --json | grep -q '"state":.*"busy"'; do sleep 0.1; done
"$EVOTILE" watch long --interval 1s >lines &
watcher=$!
as_expected() { grep -cE '^searching; 0:0[01]:[0-9]+ of 0:02:00, 0:0[01]:[0-9]+ left; [0-9]+ trials' lines; }
until [ "$(as_expected)" -ge 2 ]; do
    kill -0 $run || break
    sleep 0.1
done
kill -KILL $run
wait $run 2>/dev/null
kill $watcher
[ "$(as_expected)" -ge 2 ] && echo several
grep '^searching' lines | while read -r line; do adds_up <<<"$line" || echo "does not add up: $line"; done
# Simulates that the run was killed long ago.
sed -i -E 's/("updated":[^0-9]*)[0-9.]+/\11000000000/' long/status.json
"$EVOTILE" watch long | figures | sed 's/;.*/; .../'
echo '{' >long/status.json
"$EVOTILE" watch long | figures | sed 's/;.*/; .../'

tell watch
tell watch nowhere
tell watch run --goal 1
tell watch run --once --json
tell watch run --interval soon
