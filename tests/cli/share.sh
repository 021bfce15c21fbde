# The goals of one run learn from each other: a genome that is best at one case is tried at the others. The next goal is that of
# which most is expected. A run that was stopped between continues with the same state, which its checkpoint proves.
. "$ROOT"/tests/cli/tell
cat >cases.json <<'JSON'
{ "template": "softmax_rows", "objective": "per_case", "cases": [ { "ROWS": 4, "COLS": 40 }, { "ROWS": 4, "COLS": 600 } ],
  "device": "emulated:sm_89" }
JSON
"$EVOTILE" run cases.json --trials 21 --seed 3 --out run 2>/dev/null
tell resume run --trials 26 | sed '/champion/d; /\/s/d'
# After the first eight results of the other, each goal tries its best genome as a seed, unless it has tried it (some seeds of the run).
"$EVOTILE" summary run --json | jq -c '[.operators[] | select(.operator == "seed") | .trials > 0]'
