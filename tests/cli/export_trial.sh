# Any kernel of the board can be exported by its trial's number, as a point of the front of latency and energy.
. "$ROOT/tests/cli/tell"
small c.json '"search": { "strategy": "random" }'
"$EVOTILE" run c.json --out run >/dev/null 2>&1
trial=$("$EVOTILE" board run --json | jq '.rows[1].trial')
genome=$("$EVOTILE" board run --json | jq -r '.rows[1].genome')
"$EVOTILE" export run --trial "$trial" --out second 2>&1 | sed 's/[0-9.]* us/N us/; s/trial [0-9]*/trial N/'
[[ $(jq -r '.units[0].genome' second/manifest.json) == "$genome" ]] && echo "it is that trial's kernel"
tell export run --trial 99 --out none
python3 -c 'import sqlite3, sys
with sqlite3.connect("run/run.db") as run:
    run.execute("UPDATE trials SET raced = 1 WHERE number = ?", sys.argv[1:])' "$trial"
tell export run --trial "$trial" --out none | sed 's/trial [0-9]*/trial N/g'
tell board run --pareto
ls -d none 2>&1
