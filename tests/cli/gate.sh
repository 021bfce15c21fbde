# The gate for CI: a correct kernel that is not slower passes; exit status 3 for a slower or wrong one.
. "$ROOT/tests/cli/tell"
small c.json
"$EVOTILE" run c.json --trials 8 --out run >/dev/null 2>&1
"$EVOTILE" export run --out frozen >/dev/null 2>&1
rows() { grep -E '"(passed|verdict|predicted|ratio)"' | tr -d '\t,'; }
"$EVOTILE" gate run --against run | rows
"$EVOTILE" gate run --against frozen/manifest.json | rows
"$EVOTILE" gate frozen --against run >/dev/null
echo "a frozen kernel: status $?"
"$EVOTILE" gate run:5 --against run | sed 's/"ratio":.*/"ratio":/' | rows
"$EVOTILE" gate run:5 --against run >/dev/null
echo "a slower one: status $?"
"$EVOTILE" gate run:5 --against run --tolerance 10000 >/dev/null
echo "with patience: status $?"

# One genome for several cases: the mean cannot hide a slower case, and --promote needs two faster cases.
small joint.json '"search": { "strategy": "random" }'
sed -i 's/{ "ROWS": 4, "COLS": 40 }/{ "ROWS": 4, "COLS": 40 }, { "ROWS": 8, "COLS": 500 }/' joint.json
of_256=THREADS=256,ROW_THREADS=256,VECTOR=2,KEEP=2,UNROLL=2
of_128=THREADS=128,ROW_THREADS=128,VECTOR=2,KEEP=1,UNROLL=2
"$EVOTILE" run joint.json --trials 3 --out joint --seed-genome "$of_256;$of_128" >/dev/null 2>&1
ranked() { echo "joint:$("$EVOTILE" board joint --json | jq ".rows[] | select(.genome == \"$1\") | .rank")"; }
"$EVOTILE" gate "$(ranked $of_256)" --against "$(ranked $of_128)" >gated
echo "one case slower: status $?"
jq -c '[.rows[0].ratio < 1, .rows[0].passed, (.rows[0].by_case[] | .case, .ratio < 1), .cases_gained, .worth_promoting]' gated
"$EVOTILE" gate run --against run:5 --promote | jq -c '[.passed, .rows[0].passed, .cases_gained, .worth_promoting]'
"$EVOTILE" gate run --against run:5 --promote >/dev/null
echo "one case gains: status $?"
"$EVOTILE" gate joint --against joint:3 --promote | jq -c '[.passed, .rows[0].passed, .cases_gained, .worth_promoting]'

cp -r frozen broken
echo 'this is no CUDA;' >>broken/kernel.cu
tell gate broken --against frozen
tell gate frozen --against broken
tell gate run
tell gate run --against nowhere
