# A space is recorded, gone on with, read, exported in the other format and searched in simulation.
cat >config.json <<'END'
{ "template": "softmax_rows", "device": "emulated:sm_89", "cases": [{"ROWS": 8, "COLS": 40}] }
END
$EVOTILE record config.json --out rows.json.gz 2>&1
$EVOTILE record config.json --trials 2 --out rows.json.gz --format t5 2>&1
$EVOTILE record config.json --trials 2 --out rows.json.gz --compile-workers 1 && gunzip -c rows.json.gz | grep -c configuration
$EVOTILE record config.json --trials 5 --out rows.json.gz --compile-workers 1 && gunzip -c rows.json.gz | grep -c configuration
$EVOTILE export rows --format kernel-tuner --out cache.json && grep -c '"time"' cache.json
$EVOTILE simulate rows.json.gz cache.json --strategy random --trials 3 --seeds 1 --json | grep '"visited"'
# The file knows the default genome, so that a search can be set beside it.
$EVOTILE simulate rows.json.gz --strategy random,full --trials 4 --seeds 2 --against default --json |
    grep -E '"(speedup_least|compiled|correct)"'
$EVOTILE simulate cache.json --strategy random --trials 4 --seeds 2 --against default 2>&1
$EVOTILE simulate cache.json --strategy random --trials 4 --seeds 2 --against THREADS=3 2>&1
echo "status $?"
