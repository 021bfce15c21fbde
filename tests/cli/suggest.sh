# A genome for a case that was never searched, from an earlier run, without a GPU.
. "$ROOT"/tests/cli/tell
cat >cases.json <<'JSON'
{ "template": "softmax_rows", "objective": "per_case", "cases": [ { "ROWS": 4, "COLS": 40 }, { "ROWS": 8, "COLS": 80 } ],
  "device": "emulated:sm_89" }
JSON
"$EVOTILE" run cases.json --trials 16 --seed 1 --out results/first 2>/dev/null
"$EVOTILE" suggest cases.json --case ROWS=8,COLS=64 >text 2>&1
echo "status $?"
sed 's/[0-9][0-9.]*/N/g; s/  */ /g; /^THREADS\|^ROW_\|^VECTOR\|^KEEP\|^UNROLL/d; s/[A-Z_]*=N/GENE=N/g' text
# One goal for each case of the config; the interval holds the prediction, and the genome is valid.
"$EVOTILE" suggest cases.json --learn-from results/first --json >answer.json
jq -c '.goals[] | [.goal, .low_us < .predicted_us, .predicted_us < .high_us, (.sources | length), ([.sources[].share] | add | round)]' answer.json
genome=$(jq -r '.goals[1].genome' answer.json)
"$EVOTILE" space cases.json --goal 1 --genome "$genome" >/dev/null && echo "the genome is valid"
# A measured case: what is suggested is predicted near what was measured.
best=$("$EVOTILE" board results/first --goal 0 --json --top 1 2>/dev/null | jq '.rows[0].score')
jq ".goals[0].predicted_us / $best | . > 0.8 and . < 1.1" answer.json
# Errors.
tell suggest cases.json --case ROWS=8,WIDTH=64
tell suggest cases.json --case ROWS=8,COLS=x
tell suggest cases.json --case ROWS=8,ROWS=9,COLS=4
tell suggest cases.json --case ROWS
tell suggest cases.json --case ''
tell suggest cases.json --learn-from nowhere
mkdir empty
tell suggest cases.json --learn-from empty
sed 's/softmax_rows/rms_norm/; s/"cases".*/"cases": [ { "ROWS": 8, "COLS": 64 } ],/' cases.json >other.json
tell suggest other.json
sed 's/"objective"/"genes": { "THREADS": [32], "ROW_THREADS": [128] }, "objective"/' cases.json >none.json
tell suggest none.json
mkdir broken && cp -r "$ROOT"/templates/softmax_rows "$ROOT"/templates/lib broken
sed -i 's/__global__/__global_/' broken/softmax_rows/kernel.cu
"$EVOTILE" run cases.json --templates broken --trials 2 --out failed >/dev/null 2>&1
tell suggest cases.json --learn-from failed
