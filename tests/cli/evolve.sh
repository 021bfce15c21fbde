# Sources that evolve: a run with its lineage, as every verb reads it, and what is refused.
. "$ROOT/tests/cli/tell"
export EVOTILE_TEMPLATES=$ROOT/tests/templates
config() { echo "{ \"template\": $1, \"cases\": [{ \"N\": 3000 }], \"device\": \"emulated:sm_90\"${2:+, $2} }" >"$3"; }
config '"axpy"' '"solutions": ["loop"]' c.json
cat >script.json <<'JSON'
[ { "edits": [ { "file": "kernel.cu", "search": "ALPHA * x[i] + y[i]", "replace": "fmaf(ALPHA, x[i], y[i])" } ],
    "hypothesis": "one <b> instruction \u001b[31m", "tokens": { "prompt": 900, "completion": 100, "cost": 0.25 } },
  { "edits": [ { "file": "kernel.cu", "search": "i", "replace": "j" } ] },
  { "edits": [ { "file": "kernel.cu", "search": "x[i] + y[i]", "replace": "x[i]" } ] } ]
JSON
proposer="exec $ROOT/tests/evolve/proposer.py script.json log"

echo "--- a run"
"$EVOTILE" evolve c.json --proposer "$proposer" --proposals 3 --tune 2 --compile-workers 1 --out run >/dev/null 2>log.txt || cat log.txt
grep -o '[0-9]* proposals and .*' log.txt
tell summary run --lineage | sed -E 's/[0-9]+ s from/N s from/'
"$EVOTILE" summary run --lineage --markdown | grep -E '^#|^[*][*](Change|Decision|Next)'
tell summary run --proposals
"$EVOTILE" summary run --lineage --json | jq -c '[.starts, .best, (.proposals[] | [.number, .decision, .verdict])]'
"$EVOTILE" board run --json --all | jq -c '[.rows[].solution] | unique'
tell resume run
"$EVOTILE" resume run --proposals 4 >/dev/null 2>log.txt || cat log.txt
"$EVOTILE" summary run --lineage --json | jq -c '.proposals | length'
"$EVOTILE" fsck run | grep proposals
for form in json markdown; do "$EVOTILE" report run --$form 2>/dev/null | grep -c -i 'lineage'; done
"$EVOTILE" report run --out report.html 2>/dev/null || echo "no report"
grep -o '<details class="lineage[^<]*' report.html
grep -c '&lt;b&gt;' report.html

echo "--- a template.json is divided, and its solution is called start"
echo '{ "template": "softmax_rows", "cases": [{ "ROWS": 4, "COLS": 40 }], "device": "emulated:sm_90" }' >whole.json
EVOTILE_TEMPLATES=$ROOT/templates "$EVOTILE" evolve whole.json --proposer "$proposer" --proposals 1 --tune 1 --compile-workers 1 --out whole >/dev/null 2>log.txt || cat log.txt
ls whole/template/softmax_rows
"$EVOTILE" summary whole --lineage --json | jq -c .starts

echo "--- without --out"
(cp "$ROOT/tests/evolve/proposer.py" . && "$EVOTILE" evolve c.json --proposer "./proposer.py script.json log" --proposals 1 --tune 0 --compile-workers 1 2>&1 | grep -c 'stored in results/c$')

echo "--- mistakes"
tell evolve
tell evolve c.json --out none
tell evolve c.json --proposer x --strategy fast --out none
tell evolve c.json --proposer x --proposer-timeout soon --out none
tell evolve c.json --proposer x --ahead 99 --out none
tell evolve c.json --proposer x --out run
config '"axpy"' '"evolve": { "timeout": "soon" }' wrong.json && tell evolve wrong.json
config '"axpy"' '"evolve": { "strategy": "fast" }' wrong.json && tell evolve wrong.json
config '"axpy"' '"evolve": { "propose": "x" }' wrong.json && tell evolve wrong.json
config '"axpy"' '"genes": { "THREADS": [64] }' wrong.json && tell evolve wrong.json --proposer x
config '"axpy"' '"minimise": "energy"' wrong.json && tell evolve wrong.json --proposer x
config '"axpy"' '"objective": "per_case"' wrong.json && sed -i 's/{ "N": 3000 }/{ "N": 3000 }, { "N": 5 }/' wrong.json && tell evolve wrong.json --proposer x
tell evolve "recorded:$ROOT/tests/spaces/attention_H200.json.gz" --proposer x
tell evolve c.json --proposer 'echo hello; exit 7' --out none --compile-workers 1 --tune 0 --proposals 9 | sed -E '/trials?[ ,:]|champion/d; s/ [0-9.]+ us/ N us/'
tell resume run --queue nats://127.0.0.1:1 --proposals 9
tell summary run --lineage --proposals
tell summary run run --proposals
tell summary run whole
"$EVOTILE" run c.json --trials 1 --out plain >/dev/null 2>&1
tell summary plain --lineage
tell summary run plain --proposals
ls -d none 2>/dev/null
sqlite3 run/run.db "UPDATE proposals SET number = 9 WHERE number = 2" && tell resume run --proposals 9
