# What is forecast to be slow is filtered before anybody compiles it: stored with a verdict of its own, it counts for no
# budget, and a run that was killed filters what it would have filtered.
. "$ROOT/tests/cli/tell"
cat >c.json <<'JSON'
{ "template": "softmax_rows", "device": "emulated:sm_90", "cases": [ { "ROWS": 8, "COLS": 200 } ], "seed": 3,
  "search": { "strategy": "random" } }
JSON
verdicts() { "$EVOTILE" summary "$1" --json 2>/dev/null | jq "[.verdicts[] | select(.verdict $2 \"filtered\") | .trials] | add // 0"; }

"$EVOTILE" run c.json --prefilter 0.5 --predict 24 --trials 24 --out whole 2>&1 | grep -oE '24 trials, and [0-9]+ that were filtered' | tr -d '0-9'
filtered=$(verdicts whole ==)
echo $((filtered >= 8)) $(($(verdicts whole !=) - 24))
"$EVOTILE" run c.json --prefilter 0.5 --predict 24 --trials 24 --out killed >/dev/null 2>&1 &
until tried=$(verdicts killed !=) && [ "${tried:-0}" -ge 3 ]; do sleep 0.1; done
kill -9 $!
wait $! 2>/dev/null
"$EVOTILE" resume killed 2>/dev/null
echo "status $?"
echo $(($(verdicts killed ==) - filtered)) $(($(verdicts killed !=) - 24))

"$EVOTILE" watch killed --once | grep -oE '; 24 of 24 trials|[0-9]+ filtered' | sed 's/^[0-9]*//'
"$EVOTILE" board killed --top 1 | grep -oE 'trials: [0-9]+ ok, [0-9]+ filtered' | tr -d '0-9'
# Nothing filtered is among the failures, in what the archive teaches or in a table of what was tried.
"$EVOTILE" summary killed | grep -cE 'forecast to be|always failed'
"$EVOTILE" summary killed --json | jq '[.operators[].trials] | add'
"$EVOTILE" export killed --format t4 --out tried.json >/dev/null 2>&1
jq '.results | length' tried.json

# Every genome is one of a small space, most of which is never compiled; --predict need not be said.
sed 's/"seed"/"genes": { "THREADS": [32, 64], "VECTOR": [1, 2], "KEEP": [0, 1], "UNROLL": [1, 2] }, "seed"/' c.json >small.json
"$EVOTILE" run small.json --prefilter 0.75 --trials 1000 --out small 2>/dev/null
echo "status $?"
genomes=$("$EVOTILE" space small.json --json | jq '.goals[0].valid')
echo $(($(verdicts small ==) + $(verdicts small !=) - genomes)) $((3 * $(verdicts small !=) < genomes))

tell run c.json --prefilter 1
tell run "recorded:$ROOT/tests/spaces/pnpoly_RTX_3090.json.gz" --prefilter 0.5
