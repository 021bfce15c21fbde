# A recorded space is searched like a device, with a run folder, a board and resume; no genome is tried twice.
. "$ROOT"/tests/cli/tell
space="$ROOT"/tests/spaces/pnpoly_RTX_3090.json.gz
# What a seeded search finds is not tested here, but that each of its trials is counted once.
count_trials() { # of a line such as "run, 60 trials: 46 ok, 14 launch_failed"
    awk -F '[ ,:]+' '{ for (i = 4; i < NF; i += 2) sum += $i; print $1 ": " $2 " trials, " sum " counted" }'
}
$EVOTILE run recorded:"$space" --trials 60 --seed 1 --out run 2>/dev/null
echo "status $?"
tell board run --top 3 | sed -E '/^run, /{s/[0-9]+ (ok|launch_failed)/N \1/g}; s/^( +[1-3]) .* (block_size_x)=.*/\1 ... \2=.../'
tell resume run
tell resume run --trials 80 2>&1 | grep -o '80 trials are stored'
$EVOTILE board run | head -1 | count_trials
$EVOTILE export run --format t4 --out rows.json && grep -c configuration rows.json
$EVOTILE record recorded:"$space" --trials 30 --seed 1 --out part.json 2>/dev/null && grep -c configuration part.json
# A run on the partial recording finds exactly the genomes of the recording.
$EVOTILE run recorded:part.json --seed 1 --out part-run 2>/dev/null
$EVOTILE board part-run --top 1 | head -1 | count_trials
tell space recorded:"$space" | sed "s/^\$ .*/$ space/; 2!d"
# Another strategy, which resume keeps.
$EVOTILE run recorded:"$space" --strategy full --trials 40 --out full 2>/dev/null
$EVOTILE resume full --trials 60 2>/dev/null
$EVOTILE summary full --json | jq '[.operators[] | select(.operator | test("^(mutate|cross)")) | .trials] | add > 10'
$EVOTILE report full --markdown | grep -o 'strategy [a-z]*'
# Each error is one line.
tell run recorded:"$space" --strategy fulll
tell run recorded:missing.json.gz
tell run recorded:
tell run recorded:run
printf '{"tune_params_keys": ["a"], "cache": {\n"1": {"a": 1, "time": fast}}}' >bad.json
tell run recorded:bad.json
tell run recorded:part.json --device cuda:0
tell try recorded:part.json
tell replay run
tell export run --out kernel
# compute-sanitizer does not run, because there are no kernels.
mkdir tools
printf '#!/bin/sh\nexit 1\n' >tools/compute-sanitizer
chmod +x tools/compute-sanitizer
PATH=$PWD/tools:$PATH $EVOTILE run recorded:"$space" --trials 20 --out tooled 2>&1 | grep -c compute-sanitizer || true
