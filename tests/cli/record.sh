# A space is recorded, resumed, read, exported in the other format and searched in simulation.
cat >config.json <<'END'
{ "template": "softmax_rows", "device": "emulated:sm_89", "cases": [{"ROWS": 8, "COLS": 40}] }
END
$EVOTILE record config.json --out rows.json.gz 2>&1
$EVOTILE record config.json --trials 2 --out rows.json.gz --format t5 2>&1
$EVOTILE record config.json --trials 2 --out rows.json.gz --compile-workers 1 && gunzip -c rows.json.gz | grep -c configuration
# One trial at a time: of several, the host decides which ends first.
for trials in 3 4 5; do
    $EVOTILE record config.json --trials $trials --out rows.json.gz --compile-workers 1 && gunzip -c rows.json.gz | grep -c configuration
done
$EVOTILE export rows --format kernel-tuner --out cache.json && grep -c '"time"' cache.json
$EVOTILE simulate rows.json.gz cache.json --strategy random --trials 3 --seeds 1 --json | grep '"visited"'
# An output that is not a regular file is written to, not replaced.
ln -s /dev/stdout out && $EVOTILE export rows --format kernel-tuner --out out | grep -c '"time"'
ln -s /dev/full full && $EVOTILE export rows --format t4 --out full 2>&1
echo "status $?"
ls -l out full | grep -c -- '->'
# The file contains the default genome, so that a search can be compared with it. Strategies that try all five genomes
# find the same speedup.
$EVOTILE simulate rows.json.gz --strategy random,full --trials 5 --seeds 2 --against default --json >simulated.json
grep -E '"(compiled|correct)"' simulated.json
grep -E '"speedup_(least|median|best)"' simulated.json | cut -d : -f 2 | sort -u | wc -l
$EVOTILE simulate cache.json --strategy random --trials 4 --seeds 2 --against default 2>&1
$EVOTILE simulate cache.json --strategy random --trials 4 --seeds 2 --against THREADS=3 2>&1
echo "status $?"
# A kernel that would be the best passes a champion's final checks; the others are spared them.
$EVOTILE record config.json --trials 24 --out many.json --compile-workers 1 >/dev/null 2>&1
python3 - <<'PY'
import sqlite3
best, checked, spared = float("inf"), True, 0
for score, checks in sqlite3.connect("file:many/run.db?mode=ro", uri=True).execute("SELECT score_us, checks FROM trials ORDER BY told"):
    checked &= score >= best or checks != ""
    spared += not checks
    best = min(best, score)
print("the best were checked:", checked, "| others were not:", spared > 0)
PY
