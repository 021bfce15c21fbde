# What each gene contributes, on an emulated device by predictions. The champion of one trial is the default genome.
. "$ROOT/tests/cli/tell"
small c.json '"genes": { "UNROLL": [1] }'
"$EVOTILE" run c.json --trials 1 --out run >/dev/null 2>&1
"$EVOTILE" ablate run 2>/dev/null >text
head -n 6 text
sed 1,7d text | grep -o '^.*->.[0-9]*' | sort
grep -c 'allows only these values' text
"$EVOTILE" ablate run --json 2>/dev/null | grep '"ratio"' | tr -dc '0-9.\n' >ratios
sort -rg ratios | cmp - ratios && echo "ranked"
"$EVOTILE" summary run | grep -A 3 'contribution of each gene'
"$EVOTILE" summary run --json | grep -c '"percent_slower"'
"$EVOTILE" export run --out frozen >/dev/null 2>&1
"$EVOTILE" ablate frozen --markdown 2>/dev/null | grep -c -- '->'
tell ablate run --rank 9
tell ablate run --goal 1
tell ablate frozen --blocks 1
tell ablate frozen --claims
tell ablate run --claims
tell ablate run --claims --pathologies
"$EVOTILE" run c.json --trials 12 --out longer >/dev/null 2>&1
tell ablate longer --claims --rank 2
tell ablate nowhere
tell ablate
"$EVOTILE" run "recorded:$ROOT/tests/spaces/pnpoly_RTX_3090.json.gz" --trials 3 --out recorded >/dev/null 2>&1
tell ablate recorded
# A damaged stored ablation is reported.
cat >damage.py <<'PYTHON'
import sqlite3
with sqlite3.connect("run/run.db") as run:
    run.execute("UPDATE meta SET value = '{\"goal\": 0}' WHERE name = 'ablation:0'")
PYTHON
python3 damage.py && "$EVOTILE" summary run 2>&1 >/dev/null
echo "status $?"
