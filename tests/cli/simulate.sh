# Scores on a recorded space as text and JSON; errors in a file are reported with their position.
$EVOTILE simulate "$ROOT"/tests/spaces/pnpoly_RTX_3090.json.gz --strategy random --seeds 2 --trials 20
$EVOTILE simulate "$ROOT"/tests/spaces/pnpoly_RTX_3090.json.gz --strategy random --seeds 2 --trials 3 --json --visited rows.json |
    grep -o '"[a-z_]*":'
tr -d '0-9' <rows.json
printf '{"tune_params_keys": ["a"], "cache": {\n"1": {"a": 1, "time": fast}}}' >bad.json
$EVOTILE simulate bad.json 2>&1
echo "status $?"
$EVOTILE simulate "$ROOT"/tests/spaces/*.gz --visited rows.json 2>&1
echo "status $?"
# A picture has one panel for each space, and one line for each strategy and the expectation of random search.
$EVOTILE simulate "$ROOT"/tests/spaces/pnpoly_RTX_3090.json.gz --strategy random,evolve --seeds 1 --trials 20 --picture x.svg >/dev/null 2>&1
echo "status $?"
python3 -c 'import xml.dom.minidom as dom; print(*sorted(text.firstChild.data for text in dom.parse("x.svg").getElementsByTagName("text") if text.firstChild.data[0].isalpha()), sep="\n")'
# Spaces as the goals of one run: two equal ones take fewer trials where they share.
space="$ROOT"/tests/spaces/pnpoly_RTX_3090.json.gz
"$EVOTILE" simulate "$space" "$space" --goals --strategy auto,random --within 3 --trials 100 --seeds 2 --json >goals.json
jq -c '.goals[] | [.strategy, .goals, .next]' goals.json
jq -r '[.goals[] | select(.strategy == "auto") | .trials_mean] | (.[2] < .[0] and .[3] < .[1])' goals.json
"$EVOTILE" simulate "$space" --goals 2>&1
"$EVOTILE" simulate "$space" "$space" --goals --in-flight 2 2>&1
"$EVOTILE" simulate "$ROOT"/tests/spaces/pnpoly_RTX_3090.json.gz --noise 51 2>&1
echo "status $?"
