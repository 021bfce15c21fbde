# The summary of a run with one genome for two cases, and of a run with one genome per case.
. "$ROOT/tests/cli/tell"
small joint.json '"search": { "strategy": "evolve" }'
sed -i 's/{ "ROWS": 4, "COLS": 40 }/{ "ROWS": 4, "COLS": 40 }, { "ROWS": 8, "COLS": 500 }/' joint.json
sed 's/"budget"/"objective": "per_case", "budget"/' joint.json >apart.json
"$EVOTILE" run joint.json --trials 20 --compile-workers 1 --out joint >/dev/null 2>&1
"$EVOTILE" run apart.json --trials 12 --compile-workers 1 --out apart >/dev/null 2>&1
tell summary joint
"$EVOTILE" summary apart --markdown | grep '^#'
"$EVOTILE" summary apart --json | tr -d '\t' | grep -E '^"(run|device|trials|goals|goal|champions|elites|lessons|shapes|operators|verdicts|reasons)":'
[ "$(COLUMNS=70 "$EVOTILE" summary joint | wc -l)" -gt "$("$EVOTILE" summary joint | wc -l)" ] && echo "wraps to the width of the terminal"
tell summary joint --json --markdown
tell summary nowhere
python3 -c 'import sqlite3
with sqlite3.connect("joint/run.db") as run:
    run.execute("INSERT OR REPLACE INTO meta VALUES (\"minimise\", \"pareto\")")'
"$EVOTILE" summary joint | grep -c ' mJ us'
