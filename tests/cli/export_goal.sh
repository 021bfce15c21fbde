# --goal K of an exported kernel of several cases: the verbs that start from a kernel take that case alone.
. "$ROOT/tests/cli/tell"
small c.json '"objective": "per_case"'
sed -i 's/"cases": .*/"cases": [ { "ROWS": 4, "COLS": 40 }, { "ROWS": 3, "COLS": 50 }, { "ROWS": 2, "COLS": 60 } ],/; s/"trials": 3/"trials": 6/' c.json
"$EVOTILE" run c.json --out run >/dev/null 2>&1
"$EVOTILE" export run --out frozen >/dev/null 2>&1
cases() { "$EVOTILE" "$@" --json 2>/dev/null | jq -c '[.. | objects | .record? // .cases? // .case? | strings] | unique'; }
echo "--- one"
cases replay frozen --goal 0
cases replay frozen --goal 2
cases duel frozen frozen --goal 2
cases duel frozen run --goal 2
cases duel run frozen --goal 2
"$EVOTILE" profile frozen --goal 2 --json 2>/dev/null | jq -c '[.goal, .cases[0].name]'
echo "--- all, or the first"
cases replay frozen
cases duel frozen run
"$EVOTILE" profile frozen --json 2>/dev/null | jq -c '[.goal, .cases[0].name]'
echo "--- none"
for verb in replay sanitize profile ablate; do tell $verb frozen --goal 3; done
tell duel frozen run --goal 3
tell duel run frozen --goal 3
