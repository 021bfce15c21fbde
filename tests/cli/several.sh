# Several configs in one command: all are read before the first run starts; each has its own run.
. "$ROOT/tests/cli/tell"
small a.json
small b.json
small broken.json '"seeed": 1'
tell run a.json b.json --out here
tell run a.json broken.json
[ -e results ] || echo "nothing has begun"
"$EVOTILE" run a.json b.json --trials 2 >/dev/null 2>&1
echo "both: status $?"
ls results
"$EVOTILE" board results/b | head -n 1
tell run a.json --target 1000000 --patience 0x
"$EVOTILE" resume results/a 2>&1
