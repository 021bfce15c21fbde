# What is predicted to be slow is filtered: stored with a verdict of its own, it counts for no budget, and a run that was
# killed or stopped goes on as if it had not been.
. "$ROOT/tests/cli/tell"
cat >c.json <<'JSON'
{ "template": "softmax_rows", "device": "emulated:sm_89", "cases": [ { "ROWS": 8, "COLS": 200 } ], "seed": 3 }
JSON
verdicts() { "$EVOTILE" summary "$1" --json 2>/dev/null | jq "[.verdicts[] | select(.verdict $2 \"filtered\") | .trials] | add // 0"; }

"$EVOTILE" run c.json --prefilter 0.9 --trials 90 --out run >/dev/null 2>&1 &
until filtered=$(verdicts run ==) && [ "${filtered:-0}" -ge 3 ]; do sleep 0.1; done
kill -9 $!
wait $! 2>/dev/null
more=$(($(verdicts run !=) + 4 * $(nproc))) # than were in flight, too
"$EVOTILE" resume run --trials $more >/dev/null 2>&1
echo "status $?"
last=$((more + 4))
"$EVOTILE" resume run --trials $last 2>&1 >/dev/null | grep -oE "$last trials, and [0-9]+ that were filtered" | tr -d '0-9'
"$EVOTILE" watch run --once | grep -oE "; $last of $last trials" | tr -d '0-9'
echo $(($(verdicts run !=) - last))
filtered=$(verdicts run ==)
echo $((filtered >= 3))
"$EVOTILE" board run --top 1 | grep -oE 'trials: [0-9]+ ok, [0-9]+ filtered' | tr -d '0-9'
# Nothing filtered is among the commonest failures, nor in a table of what was tried.
"$EVOTILE" summary run | grep -c 'predicted to take'
"$EVOTILE" export run --format t4 --out tried.json >/dev/null 2>&1
echo $(($(jq '.results | length' tried.json) - last))

# Every genome is one of a small space, so that all come to an end.
sed 's/"seed"/"genes": { "THREADS": [32, 64], "VECTOR": [1, 2], "KEEP": [0, 1], "UNROLL": [1, 2] }, "seed"/' c.json >small.json
"$EVOTILE" run small.json --prefilter 0.9 --trials 1000 --out small 2>/dev/null
echo "status $?"
genomes=$("$EVOTILE" space small.json --json | jq '.goals[0].valid')
echo $(($(verdicts small ==) + $(verdicts small !=) - genomes))
echo $(($(verdicts small ==) > 2))

# One worker for both.
"$EVOTILE" run small.json --prefilter 0.9 --trials 32 --compile-workers 0 --out alone 2>/dev/null
echo $(($(verdicts alone ==) > 0))

tell run c.json --prefilter 1
tell run "recorded:$ROOT/tests/spaces/pnpoly_RTX_3090.json.gz" --prefilter 0.5
