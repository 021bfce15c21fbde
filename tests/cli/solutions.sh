# Several solutions of one problem: both are searched in one run, their champions run duels, and one is exported.
. "$ROOT/tests/cli/tell"
export EVOTILE_TEMPLATES=$ROOT/tests/templates
evotile() { "$EVOTILE" "$@"; }
config() { echo "{ \"template\": $1, \"cases\": [{ \"N\": 20000 }], \"device\": \"emulated:sm_90\", $2 \"budget\": { \"trials\": 34 } }" >"$3"; }
config '"axpy"' '"solutions": "all", "genes": { "vector": { "STAGED": [0] } },' both.json
config '"axpy/vector"' '' vector.json
config '"axpy_loop"' '' former.json
config '"axpy"' '' default.json

echo "--- what each config searches"
for name in both vector former default; do
    evotile space $name.json | sed -n '/^goal/,$p' | awk '{ print $2, $3, $NF }' | sed 1d
done

echo "--- one run, and its board"
evotile run both.json --out run >/dev/null 2>log || cat log
grep -o 'is [0-9.]* times as fast as .*' log
evotile board run --all | grep -E '^goal|^best|^ratios' | sed -E 's/ [0-9]\.[0-9]{3} / N /g; s/trial [0-9]+/trial T/; s/99 %: .*\)/99 %: ...)/'
sqlite3 run/run.db 'SELECT goal, count(*) FROM trials GROUP BY goal'

echo "--- a strategy that does not learn tries each as often as the other"
config '"axpy"' '"solutions": "all", "search": { "strategy": "random" },' random.json
evotile run random.json --trials 36 --out random >/dev/null 2>log || cat log
sqlite3 random/run.db 'SELECT goal, count(*) FROM trials GROUP BY goal'

echo "--- the board ranks both together"
ranked() { evotile board run --json --all "$@" | jq -c '[.rows[] | [.rank, .solution, .trial]]'; }
ranked | jq -c '[.[][0]] == [range(1; 1 + length)] and ([.[][1]] | unique) == ["loop", "vector"]'
evotile board run --json --all | jq -c '[.rows[] | .score] | . == sort'
evotile board run --csv --all | head -1 | grep -o 'trial,solution,case'
evotile board run --json --all | jq -c '[.rows[] | .ratio_to_default * .latency_p50_us] | (max - min) / max < 1e-9'
evotile board run --json --goal 1 --all | jq -c '.rows | length'
evotile board run --json --all | jq -c '[.rows[] | select(.solution == "loop" and .genome == "THREADS=64,BLOCKS=1") | .ratio_to_default]'

echo "--- a rank is that of the board, of all solutions or of one, in every verb"
trial() { ranked "${@:2}" | jq ".[$1 - 1][2]"; }
replayed() { evotile replay run --json "$@" 2>/dev/null | jq -r '.rows[].record'; }
for rank in 1 2 4; do [[ $(replayed --rank $rank) == *"rank $rank, trial $(trial $rank)" ]] || echo "replay, rank $rank"; done
[[ $(replayed --solution loop --rank 2) == "N=20000, loop, rank 2, trial $(trial 2 --solution loop)" ]] || replayed --solution loop --rank 2
[[ $(replayed) == "N=20000, vector, champion, trial $(trial 1)" ]] || replayed
evotile ablate run --json --rank 4 2>/dev/null | jq -c "[.goal, .trial == $(trial 4)]"
evotile duel run:4 run:loop:1 --json 2>/dev/null | jq -c '.rows[0] | [.cases, .ratio == 1]'
evotile export run --rank "$(ranked | jq 'map(.[1]) | index("loop") + 1')" --out ranked >log 2>&1 || cat log
jq -r '.template.solution' ranked/manifest.json
evotile duel run:loop ranked --json 2>/dev/null | jq -c '.rows[0] | [.cases, .ratio == 1]'
tell replay run --rank 99
tell replay run --rank 99 --solution loop
tell replay run --solution lop
tell board run --solution lop
tell duel run:lop run
tell replay ranked --solution loop

echo "--- watch, summary and report have the one board"
evotile watch run --json | jq -c '.goal_name, ([.top[] | .solution] | unique)'
evotile watch run --once | grep -E '^rank|^goals|^   1 ' | sed -E 's/ +/ /g; s/[0-9]+ [0-9.]+ vector .*/T us vector .../'
evotile summary run --json | jq -c '[.goals[] | .elites | length], [.goals[0].elites[] | .rank], ([.operators[] | .operator + " " + .solution] | index("default loop") != null)'
evotile report run --out report.html >/dev/null 2>log || cat log
evotile report run --markdown 2>/dev/null | grep -E 'leaderboard' 
evotile report run --markdown 2>/dev/null | grep -c '^| *rank'
genes='import csv, sys
print(sorted({(row["goal"], *(g for g in ("THREADS", "BLOCKS", "VECTORS", "STAGED") if row[g])) for row in csv.DictReader(sys.stdin)}))'
evotile report run --csv | python3 -c "$genes"

echo "--- the insights of each solution have reasons and credits of their own"
mkdir mine && cp -r "$ROOT/tests/templates/axpy" mine
insight() { sed -i "s|\"source\"|\"insights\": [ { \"when\": 1, \"favour\": { \"$2\": \"higher\" }, \"because\": \"$3\" } ],\n  &|" "mine/axpy/$1/solution.json"; }
insight loop BLOCKS 'more blocks fill the GPU'
insight vector VECTORS 'longer vectors need fewer threads'
config '"axpy"' '"solutions": "all", "search": { "strategy": "insight", "initial": 4, "population": 4 },' hints.json
sed -i 's/"trials": 34/"trials": 60/' hints.json
EVOTILE_TEMPLATES=$PWD/mine "$EVOTILE" run hints.json --out hints >/dev/null 2>log || cat log
sqlite3 hints/run.db "SELECT name || ': ' || value FROM meta WHERE name LIKE '%rule:1' ORDER BY name"
EVOTILE_TEMPLATES=$PWD/mine "$EVOTILE" summary hints --json |
    jq -c '[.operators[] | select(.operator == "rule:1") | (.solution == "loop") == (.about | startswith("more blocks"))] | length > 0 and all'

echo "--- a run that does not store its solutions is read by its config"
cp -r run older
sqlite3 older/run.db "DELETE FROM meta WHERE name IN ('solutions', 'default_solution')"
diff <(evotile board older --csv) <(evotile board run --csv) && echo same
sqlite3 older/run.db "INSERT INTO meta VALUES ('solutions', 'a,b,c')"
tell board older
sqlite3 older/run.db "UPDATE meta SET value = ',' WHERE name = 'solutions'"
tell board older

echo "--- genomes that a user gives are for the solutions that they fit, or that they name"
seeds() { sqlite3 "$1/run.db" "SELECT value FROM meta WHERE name = 'seeds:$2'"; }
evotile run both.json --trials 2 --out seeded --seed-genome 'THREADS=128; BLOCKS=8; VECTORS=4; vector: THREADS=64; loop : THREADS=256' >/dev/null 2>log || cat log
seeds seeded 0 && seeds seeded 1
evotile run both.json --trials 2 --out warm --warm-start seeded >/dev/null 2>log || cat log
for goal in 0 1; do seeds warm $goal | tr ';' '\n' | cut -d, -f2 | cut -d= -f1 | sort -u; done
for words in "THREADS=64" "VECTORS=2" "vector:" "loop: THREADS=64" "STAGED=0 --goal 1" "THREADS=64 --solution vector" "VECTORS=2 --goal 1"; do
    words=${words/: /:}
    evotile space both.json --json --genome $words 2>/dev/null | jq -r .genome
    evotile try both.json --json --genome $words 2>/dev/null | jq -r .genome
done
evotile space both.json --solution vector 2>/dev/null | grep -E '^   +[0-9]|VECTORS|BLOCKS' | head -3
for words in "BLOCK=2" "vectr:THREADS=64" "loop:VECTORS=2" "loop:THREADS=64 --solution vector" "THREADS=64 --solution vectr"; do
    tell space both.json --genome $words
done
tell try vector.json --genome loop:THREADS=64
tell run both.json --out none --seed-genome 'THREADS=64; BLOCKS=8,VECTORS=2'
tell run both.json --out none --seed-genome 'vectr: THREADS=64'
tell run both.json --out none --seed-genome 'vector: BLOCKS=4'

echo "--- resume finds the same state; fsck and replay know both"
evotile resume run --trials 40 >/dev/null 2>log || cat log
evotile fsck run | grep -c whole
evotile replay run --json | jq -c '[.rows[] | .passed]'

echo "--- the best is exported, or the one that is named; both replay and compare"
evotile export run --out best >log 2>&1 || cat log
evotile export run --solution loop --out loop >log 2>&1 || cat log
jq -r '.template.solution' best/manifest.json loop/manifest.json
for kernel in best loop; do evotile replay $kernel --json | jq -c '[.rows[] | .passed]'; done
evotile duel best loop --json >duel.json || echo "status $?"
jq -c '[.. | .ratio? // empty | . > 0.5 and . < 2] | unique' duel.json

echo "--- each case's best solution is exported, and a launcher chooses"
config '"axpy"' '"objective": "per_case", "solutions": "all", "genes": { "loop": { "THREADS": [32, 64], "BLOCKS": [32] }, "vector": { "THREADS": [64], "VECTORS": [2], "STAGED": [0] } },' two.json
sed -i 's/{ "N": 20000 }/{ "N": 20000 }, { "N": 1003 }/' two.json
evotile run two.json --out two >/dev/null 2>log || cat log
evotile export two --out each 2>log | sed -E 's/ [0-9.]+ us/ N us/' || cat log
jq -c '.format, .template.solution, (.units[] | [.solution, .source])' each/manifest.json
ls each/template/axpy loop/template/axpy | grep -E 'loop|vector|:'
evotile replay each --json | jq -c '[.rows[] | [.record, .passed, (.differences | length)]]'
evotile gate each --against two | jq -c '.passed, [.rows[].cases]'
evotile export two --solution loop --out one >log 2>&1 || cat log
evotile gate each --against one | jq -c '.passed, [.rows[] | [.cases, .ratio <= 1]]'
evotile duel one each --json | jq -c '[.. | .case? // empty]'
echo "a trial of the other solution replaces its own case alone:"
other=$(sqlite3 two/run.db 'SELECT max(trial) FROM champions WHERE goal = 0')
evotile export two --trial "$other" --out trial 2>log | sed -E 's/ [0-9.]+ us/ N us/' || cat log
tell export two --trial "$other" --solution vector --out none | sed -E 's/trial [0-9]+|--trial [0-9]+/trial T/'
cp -r each changed && echo >>changed/kernel_loop.cu && tell replay changed
cp -r each changed2 && rm -r changed2/template/axpy/loop && tell gate changed2 --against each

echo "--- mistakes"
config '"axpy"' '"solutions": ["loop", "vectr"],' wrong.json && tell space wrong.json
config '"axpy"' '"solutions": ["loop", "loop"],' wrong.json && tell space wrong.json
config '"axpy"' '"solutions": [],' wrong.json && tell space wrong.json
config '"axpy"' '"solutions": "both",' wrong.json && tell space wrong.json
config '"axpy/loop"' '"solutions": ["vector"],' wrong.json && tell space wrong.json
config '"axpy"' '"solutions": "all", "genes": { "THREADS": [32] },' wrong.json && tell space wrong.json
config '"axpy/lop"' '' wrong.json && tell space wrong.json
config '"scaled_add"' '"solutions": "all",' wrong.json && tell space wrong.json
tell export run --solution vectr --out none
tell try both.json --genome ':THREADS=64'
tell duel run:0 run
tell duel run::1 run
tell serve both.json --tokens tokens
echo '{ "template": "scaled_add", "cases": [{ "ROWS": 4, "COLS": 8 }], "device": "emulated:sm_90" }' >one.json && tell try one.json --solution foo
config '"axpy"' '"objective": "per_case", "solutions": "all",' many.json
sed -i "s/\"cases\": \[.*\], \"device\"/\"cases\": [$(seq -s, 1 64 | sed 's/[0-9]\+/{ "N": & }/g')], \"device\"/" many.json
mkdir many && cp -r "$ROOT/tests/templates/axpy" many/
for n in 2 3 4; do cp -r many/axpy/loop "many/axpy/loop$n" && sed -i '/former_name/d' "many/axpy/loop$n/solution.json"; done
tell space many.json --templates many
damage() { sqlite3 run/run.db "UPDATE meta SET value = '$1' WHERE name = 'rivals:0'" && tell board run --top 1 | grep -v -E '^(goal|rank|checks|  )'; }
damage '{"goal": 9}'
damage "{\"goal\": 0, \"trial\": 1, \"duels\": [$(seq -s, 1 257)]}"
