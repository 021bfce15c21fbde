# What earlier versions had: its options and keys are accepted and have no effect; its runs are read, but not continued.
. "$ROOT/tests/cli/tell"
space=$ROOT/tests/spaces/pnpoly_RTX_3090.json.gz
printf '{ "template": "recorded:%s", "search": { "strategy": "map", "islands": 3 }, "budget": { "trials": 8 } }' "$space" >c.json
"$EVOTILE" run c.json --islands 5 --prefilter 0.5 --out new 2>&1 | grep -E 'no effect|gone|8 trials'
"$EVOTILE" resume new --trials 12 2>&1 | grep -E 'no effect|gone|12 trials'
"$EVOTILE" simulate "$space" --strategy map --islands 2 --prefilter 0.5 --trials 3 --seeds 1 2>&1 | grep -oE "warning.*|^evolve"
tell run c.json --islands
"$EVOTILE" run --help | grep -cE 'islands|prefilter'
"$EVOTILE" completion bash | grep -cE 'islands|prefilter'

# Each of these runs was made by commit 2daa252.
for run in islands prefilter map; do
    tar -xzf "$ROOT/tests/runs/$run.tar.gz"
    echo "== $run"
    "$EVOTILE" board $run --top 1 2>/dev/null | grep -E "trials:|^   1"
    "$EVOTILE" summary $run | grep -vE '^(run|started) ' >summary.txt
    echo "summary $?, report $("$EVOTILE" report $run --out $run.html >/dev/null 2>&1; echo $?)"
    tell replay $run | tail -2
    tell resume $run --trials 20
    "$EVOTILE" run $run/config.json --warm-start $run --trials 2 --out next-$run >/dev/null 2>&1
    echo "warm start: $?"
done
"$EVOTILE" summary prefilter --json | jq -c '.verdicts'
"$EVOTILE" watch prefilter --once | grep -oE '; 8 of 8 trials|[0-9]+ filtered'
