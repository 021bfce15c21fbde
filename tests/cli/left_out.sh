# A solution that can do some cases of a run only: it is left out of the others, by every strategy and every verb.
. "$ROOT/tests/cli/tell"
mkdir mine && cp -r "$ROOT/tests/templates/axpy" mine
sed -i 's|"constraints": \[|& { "require": "N <= 5000", "because": "it is for few numbers" },|' mine/axpy/vector/solution.json
export EVOTILE_TEMPLATES=$PWD/mine
evotile() { "$EVOTILE" "$@"; }
cases='{ "N": 900 }, { "N": 20000 }, { "N": 7000 }'
config() { # OBJECTIVE STRATEGY SOLUTIONS FILE
    echo "{ \"template\": \"axpy\", \"solutions\": $3, \"objective\": \"$1\", \"cases\": [$cases], \"device\": \"emulated:sm_90\",
        \"search\": { \"strategy\": \"$2\", \"initial\": 4, \"population\": 4 }, \"budget\": { \"trials\": 24 } }" >"$4"
}
trials() { sqlite3 "$1/run.db" 'SELECT number, goal, genome, operator, parent_a, parent_b FROM trials ORDER BY number'; }
goals() { sqlite3 "$1/run.db" 'SELECT goal FROM trials GROUP BY goal' | xargs; }
said() { grep -c 'left out' log; }

echo "--- every strategy asks only the goals whose solution can do the case"
for strategy in auto evolve free full grid insight random; do
    config per_case $strategy '"all"' $strategy.json
    evotile run $strategy.json --out $strategy >/dev/null 2>log || tail -1 log
    echo "$strategy: goals $(goals $strategy), of 6; said $(said) time(s)"
done
grep 'left out' log
sqlite3 full/run.db "SELECT name, value FROM meta WHERE name LIKE 'left_out%' ORDER BY name"

echo "--- a run that is left and continued makes the same choice"
for strategy in auto random; do
    evotile run $strategy.json --trials 7 --out part_$strategy >/dev/null 2>log || tail -1 log
    evotile resume part_$strategy --trials 24 >/dev/null 2>log || tail -1 log
    echo "$strategy: goals $(goals part_$strategy), of 6; said $(said) time(s)"
done
diff <(trials random) <(trials part_random) && echo same
evotile fsck part_auto | grep -c 'settings.*whole'

echo "--- a goal that is left out ends no run and keeps none alive"
sed 's/"trials": 24/"trials": 400, "patience": 5/' random.json >patience.json
evotile run patience.json --out patience >/dev/null 2>log || tail -1 log
sqlite3 patience/run.db 'SELECT count(*) < 400, count(DISTINCT goal) FROM trials'
evotile resume patience 2>&1 | grep -o 'is finished'

echo "--- where one genome does all cases the solution is left out wholly: the run is that of the others"
for strategy in grid random; do # the others' proposals depend on the order of results
    config joint $strategy '"all"' all.json
    config joint $strategy '["loop"]' loop.json
    for name in all loop; do
        rm -rf $name
        evotile run $name.json --out $name >/dev/null 2>$name.log || tail -1 $name.log
    done
    diff <(trials all) <(trials loop) && echo same
done
grep 'left out' all.log

echo "--- genomes that are given"
seeds() { rm -rf seeds && evotile run "$1" --trials 3 --out seeds --seed-genome "$2" 2>&1 >/dev/null | grep -E 'seed-genome|fits'; }
seeds auto.json 'vector: THREADS=64' || echo "tried where it can be"
seeds all.json 'vector: THREADS=64; loop: BLOCKS=2; VECTORS=2'
seeds all.json 'vector: VECTRS=2'
seeds all.json 'WARPS=2'
config joint auto '["vector", "loop"]' vector_first.json
for name in all vector_first; do evotile try $name.json --json | jq -r '.verdict, .genome'; done
evotile try auto.json --goal 3 --genome THREADS=64 --json | jq -r '.reason'
tell try all.json --genome VECTORS=2 | grep -o "'N <= 5000' does not hold.*" | sort -u

echo "--- other verbs"
evotile board auto --goal 0 --json --all | jq -c '[.rows[].solution] | unique'
evotile board auto --goal 3 --json --all | jq -c '[.rows[].solution] | unique'
evotile board auto --goal 3 --json --all --solution vector 2>/dev/null | jq -c '.rows'
evotile board auto --goal 3 | grep '^left out'
evotile board auto --goal 3 --json | jq -c '.left_out'
evotile board auto --goal 0 --json | jq -c 'has("left_out")'
evotile summary auto | grep -B1 'left it out'
evotile summary auto --json | jq -c '[.goals[] | has("left_out")]'
evotile report auto --markdown 2>/dev/null | grep -c 'left it out'
for name in auto all; do tell space $name.json --json | grep -E 'left|leaves|status'; done
tell space auto.json --goal 3 | tail -2
evotile suggest auto.json --learn-from auto --json 2>log | jq -r '.goals[].goal'
cat log
evotile lint vector_first.json --mutants 0 2>&1 | head -1
evotile export auto --out best 2>&1 | grep -o '^N=.*' | sed -E 's/ [0-9.]+ us/ T us/'
evotile gate best --against auto | jq -c '.passed, [.rows[].cases]'

echo "--- sources that evolve begin with those that can do all cases"
echo '[ { "edits": [ { "file": "kernel.cu", "search": "ALPHA * x[i] + y[i]", "replace": "fmaf(ALPHA, x[i], y[i])" } ] } ]' >script.json
evotile evolve all.json --proposer "exec $ROOT/tests/evolve/proposer.py script.json asked" --proposals 1 --tune 2 --trials 60 --compile-workers 1 --out evolved >/dev/null 2>log || tail -1 log
said
evotile summary evolved --lineage --json | jq -c '[.starts[] | .solution? // .], [.proposals[] | .verdict]'
evotile resume evolved --proposals 2 >/dev/null 2>log || tail -1 log
sqlite3 evolved/run.db 'SELECT count(*) FROM trials WHERE goal = 1'

echo "--- no solution is left"
sed -i 's|"source"|"constraints": [ { "require": "N >= 1000", "because": "it is for many numbers" } ],\n  &|' mine/axpy/loop/solution.json
sed -i 's/N <= 5000/N <= 500/' mine/axpy/vector/solution.json
tell run auto.json --out none
tell run all.json --out none
tell space auto.json | tail -1
tell suggest all.json --learn-from all
[ -e none ] && echo "a run that was refused left a folder"
exit 0
