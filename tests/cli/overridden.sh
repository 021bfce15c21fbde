# A run of an earlier version has in run.db what its options changed: --seed 3 --time 1h --trials 20 --patience 15
# --strategy full. It is shown right, continues with these settings, and keeps them when resume changes others.
. "$ROOT/tests/cli/tell"
tar -xzf "$ROOT/tests/runs/overridden.tar.gz"
cp "$ROOT/tests/spaces/pnpoly_RTX_3090.json.gz" overridden/template
cp -r overridden copy
"$EVOTILE" report overridden --markdown | grep -oE 'strategy [a-z]*|seed [0-9]*'
"$EVOTILE" resume overridden 2>&1 | grep -o 'finished after 20 trials'
cmp overridden/config.json copy/config.json && echo "resume without options leaves config.json"
"$EVOTILE" resume overridden --trials 30 2>&1 | grep -oE '[0-9]+ trials are stored|finished after [0-9]+ trials'
jq -c . overridden/config.json
"$EVOTILE" report overridden --markdown | grep -oE 'strategy [a-z]*|seed [0-9]*'
"$EVOTILE" resume overridden --patience 100 2>&1 | grep -oE '[0-9]+ trials are stored|finished after [0-9]+ trials'
jq -c .budget overridden/config.json
