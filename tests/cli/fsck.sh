# A damaged run: what of it is whole, and a salvaged copy that board, report and resume read.
. "$ROOT/tests/cli/tell"
"$EVOTILE" run recorded:"$ROOT"/tests/spaces/pnpoly_RTX_3090.json.gz --trials 20 --seed 1 --strategy free --out run >/dev/null 2>&1
edit() {
    python3 -c 'import sqlite3, sys
with sqlite3.connect(sys.argv[1] + "/run.db") as run:
    run.executescript(sys.argv[2])' "$1" "$2"
}
tell fsck run | grep -v '^cases'
cp -r run bare
edit bare "DELETE FROM meta WHERE name = 'template_hash'"
"$EVOTILE" fsck bare | grep '^template'
cp -r run other
file=other/template/pnpoly_RTX_3090.json.gz
zcat "$file" | sed '0,/[0-9]\.[0-9]/s/\([0-9]\)\.\([0-9]\)/\1.7\2/' >changed && gzip -c changed >"$file"
"$EVOTILE" fsck other | grep '^template' | sed -E 's/[0-9a-f]{32}/HASH/g'
edit run 'UPDATE trials SET told = "late" WHERE number = 3; UPDATE trials SET verdict = zeroblob(1) WHERE number = 5;
    UPDATE champions SET goal = -1 WHERE rowid = 1; UPDATE checkpoints SET digest = "abc"'
tell board run
tell fsck run --salvage saved | sed -E '/^(cases|champions)/s/ [0-9]+ (rows|damaged)/ N \1/g'
tell fsck saved | grep -E 'damaged|trials|status'
"$EVOTILE" board saved 2>/dev/null | head -1 | grep -o '^saved, 18 trials'
"$EVOTILE" report saved --out page.html 2>/dev/null && grep -c '<html' page.html
"$EVOTILE" resume saved --trials 24 2>&1 | grep -oE '[0-9]+ trials are stored'
"$EVOTILE" board saved 2>/dev/null | head -1 | grep -o '^saved, 24 trials'
"$EVOTILE" fsck run --json | jq -c '[.whole, .config.state, .template.state, (.tables[] | select(.table == "trials") | .damaged)]'
echo '{' >saved/config.json
tell fsck saved | grep -E '^(config|template|status)'
tell fsck run --salvage saved
tell fsck nowhere
head -c 5000 run/run.db >part && mv part run/run.db
tell fsck run
