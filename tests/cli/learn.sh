# A search that learns from earlier runs and recorded spaces. What it learned is stored, so a resumed run does not need
# them.
. "$ROOT"/tests/cli/tell
space="$ROOT"/tests/spaces/pnpoly_RTX_3090.json.gz
mkdir runs
"$EVOTILE" run recorded:"$space" --trials 60 --seed 1 --out runs/first 2>/dev/null
best=$("$EVOTILE" board runs/first --json --top 1 2>/dev/null | jq -c '.rows[0].genome')
"$EVOTILE" run recorded:"$space" --trials 11 --seed 2 --learn-from runs --out second 2>/dev/null
rm -r runs
tell resume second --trials 24 | sed '/champion/d; /\/s/d'
"$EVOTILE" board second --json --top 100 2>/dev/null | jq -c '.rows[] | select(.trial < 4) | .genome' | grep -qF "$best" &&
    echo "it starts with the best of the earlier run"
"$EVOTILE" summary second --json | jq -c '.operators[] | [.operator, .trials]'
# A space of another device.
"$EVOTILE" simulate "$space" --sources "$space","$ROOT"/tests/spaces/convolution_milo_A100.json.gz --strategy auto,evolve --seeds 1 \
    --trials 20 --json | jq -c '.spaces[] | [.strategy, .visited]'
# Errors.
tell run recorded:"$space" --trials 4 --out fourth --learn-from nowhere
tell run recorded:"$space" --trials 4 --out fourth --learn-from ''
small joint.json
tell run joint.json --out fourth --learn-from second
tell simulate "$space" --sources nowhere
[ -e fourth ] || echo "no folder is left"
