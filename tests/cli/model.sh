# The latency model is fitted to measurements, here to a recorded space whose times come from another parameter set, so
# that the fit is close. Runs store the predictions; a search starts with genomes that are predicted to be fast.
. "$ROOT/tests/cli/tell"
cp -r "$EVOTILE_DEVICES" devices
export EVOTILE_DEVICES=$PWD/devices
cat >c.json <<'JSON'
{ "template": "softmax_rows", "device": "emulated:sm_89", "cases": [ { "ROWS": 8, "COLS": 200 } ], "budget": { "trials": 13 } }
JSON
"$EVOTILE" record c.json --trials 30 --out rows.json >/dev/null 2>&1
sed 's/"device_name":"[^"]*"/"device_name":"NVIDIA L4"/' rows.json >measured.json
"$EVOTILE" model fit recorded:measured.json --config c.json --json 2>said >fit.json
echo "status $?"
grep -o 'wrote .*' said
jq -r '.device, (.rows[] | .trials, .rank_correlation > 0.9, .off_percent < 10, .best_hundredth < 1.1), (.parameters | length)' fit.json
jq -r 'keys | join(" ")' devices/fitted/l4.json
"$EVOTILE" model fit recorded:measured.json --config c.json --out other.json 2>/dev/null | sed -n '1,2p;/^parameter/p'
cmp other.json devices/fitted/l4.json && echo "the same again"

# Predictions use the fitted parameters.
latency() { "$EVOTILE" try c.json 2>/dev/null | sed -n 's/^  prediction .* \([0-9.]*\) us predicted.*/\1/p'; }
fitted=$(latency)
jq '.start_us = 9' devices/fitted/l4.json >slow.json && mv slow.json devices/fitted/l4.json
slow=$(latency)
jq -n "$slow > $fitted + 5"
"$EVOTILE" run c.json --predict 14 --out run 2>&1 | grep -oE '[0-9]+ genomes traced'
"$EVOTILE" summary run --json | jq -c '[.operators[] | select(.trials > 0) | .operator] | sort'

# model check compares without fitting anything, a run of predictions with itself; --out writes a line a trial.
cp -r devices before
"$EVOTILE" model check run --trials 0 --json --out trials.jsonl 2>/dev/null |
    jq -c '.device, (.rows[] | .trials, .rank_correlation, .rank_low, .rank_high, .off_percent)'
cmp devices/fitted/l4.json before/fitted/l4.json && echo "nothing was fitted"
jq -s -c 'length, (.[0] | keys), ([.[] | (.measured_us - .predicted_us) / .measured_us | fabs] | max < 0.001),
    ([.[] | .cases[0].launches[0] | .sectors >= .l2_sectors and .critical_path_cycles > .loading_cycles and .blocks > 0] | all)' trials.jsonl
"$EVOTILE" model check recorded:measured.json --config c.json --trials 12 2>/dev/null | sed -n 1p

# A strategy without a model tries the four that are predicted to be fastest. What was predicted stays with the run:
# resumed, it is not traced again, and its replay is consistent.
sed 's/"budget"/"search": { "strategy": "evolve" }, "budget"/' c.json >evolve.json
"$EVOTILE" run evolve.json --predict 14 --trials 7 --out evolved 2>/dev/null
"$EVOTILE" resume evolved --trials 13 2>&1 | grep -cE 'genomes traced|13 trials are stored'
"$EVOTILE" summary evolved --json | jq '.operators[] | select(.operator == "seed") | .trials'

# model predict predicts some rows of a recorded space, for simulated searches.
"$EVOTILE" model predict recorded:measured.json --config c.json --trials 25 --out some.json 2>&1
"$EVOTILE" model predict recorded:measured.json --config c.json --trials 0 --out rows-predicted.json 2>/dev/null
jq -c '.predicted_us | length, (map(select(. == null)) | length)' some.json rows-predicted.json
"$EVOTILE" simulate measured.json --strategy auto --trials 5 --seeds 4 --within 20 --predicted some.json --predict 20 --json |
    jq -c '.spaces[0].near_found, .spaces[0].trials_to_near <= 2'

tell model fit run
tell model guess run
tell model check
tell model check run --out nowhere/trials.jsonl | sed 's/No such.*//'
tell model fit nowhere
tell model predict recorded:measured.json --config c.json
tell model predict run --out some.json
jq '.predicted_us |= .[1:]' some.json >short.json
jq '.predicted_us[3] = -1' rows-predicted.json >wrong.json
echo '{}' >nothing.json
for file in short wrong nothing; do tell simulate measured.json --predicted $file.json; done
tell simulate measured.json measured.json --predicted some.json
tell simulate measured.json --within 0
tell model fit recorded:measured.json
tell model fit recorded:measured.json --config c.json --folds 1
tell model fit recorded:rows.json --config c.json
jq '.results |= .[:5]' measured.json >few.json
tell model fit recorded:few.json --config c.json
sed 's/NVIDIA L4/NVIDIA A10/' few.json >another.json
tell model fit recorded:few.json recorded:another.json --config c.json
tell run c.json --predict 20000
tell run recorded:few.json --predict 5
echo '{ "name": "NVIDIA L4", "start_us": -3 }' >devices/fitted/l4.json
tell try c.json | sed "s|$PWD|*|"
# A parameter that a file omits has its default: the file may be older than the parameter.
echo '{ "name": "NVIDIA L4", "start_us": 2 }' >devices/fitted/l4.json
"$EVOTILE" try c.json >/dev/null 2>&1
echo "one parameter: status $?"
