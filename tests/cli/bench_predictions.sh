# make bench-predictions: random genomes of a config, measured here by the emulated device itself, so that predictions
# agree with themselves; a second call with more trials goes on where the first one ended.
export PYTHONDONTWRITEBYTECODE=1
cat >rows.json <<'JSON'
{ "template": "softmax_rows", "device": "emulated:sm_89", "cases": [ { "ROWS": 8, "COLS": 200 } ],
  "search": { "strategy": "random" }, "budget": { "trials": 4 } }
JSON
bench() { python3 "$ROOT/tests/bench/predictions.py" --evotile "$EVOTILE" --configs rows.json --device emulated:sm_89 --out out "$@" 2>>log; }
bench --trials 5 | sed 's/\( [57] \) *[0-9.]*  *[0-9.]* /\1 from to /'
cp out/rows.jsonl first.jsonl
bench --trials 7 | tail -1 | sed 's/\( [57] \) *[0-9.]*  *[0-9.]* /\1 from to /'
jq -s -c 'length, (map(.genome) | unique | length)' out/rows.jsonl
jq -s -c '.[:5] | map(.genome)' out/rows.jsonl | cmp - <(jq -s -c 'map(.genome)' first.jsonl) && echo "the first ones are kept"
grep -cE 'evotile (run|resume) ' log
echo '{' >rows.json && rm -r out
bench --trials 5
echo "status $?"
# The configs that the bench takes without others have enough genomes on an H200.
for config in softmax decode reduce; do
    "$EVOTILE" space "$ROOT/configs/predictions_$config.json" --device emulated:sm_90 --json | jq -c '[.goals[].valid >= 300] | all'
done
