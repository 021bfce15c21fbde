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
evotile board run --top 1 | grep -E '^goal|^best' | sed -E 's/ [0-9]\.[0-9]{3} / N /g; s/trial [0-9]+/trial T/; s/99 %: .*\)/99 %: ...)/'
sqlite3 run/run.db 'SELECT goal, count(*) FROM trials GROUP BY goal'

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
config '"axpy"' '"objective": "per_case", "solutions": "all", "genes": { "loop": { "THREADS": [32, 64], "BLOCKS": [32] }, "vector": { "THREADS": [64], "STAGED": [0] } },' two.json
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
other=$(sqlite3 two/run.db 'SELECT max(trial) FROM champions WHERE goal = 3')
evotile export two --trial "$other" --out trial 2>log | sed -E 's/ [0-9.]+ us/ N us/' || cat log
tell export two --trial "$other" --solution loop --out none | sed -E 's/trial [0-9]+|--trial [0-9]+/trial T/'
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
config '"axpy"' '"objective": "per_case", "solutions": "all",' many.json
sed -i "s/\"cases\": \[.*\], \"device\"/\"cases\": [$(seq -s, 1 33 | sed 's/[0-9]\+/{ "N": & }/g')], \"device\"/" many.json
tell space many.json
damage() { sqlite3 run/run.db "UPDATE meta SET value = '$1' WHERE name = 'rivals:0'" && tell board run --top 1 | grep -v -E '^(goal|rank|checks|  )'; }
damage '{"goal": 9}'
damage "{\"goal\": 0, \"trial\": 1, \"duels\": [$(seq -s, 1 17)]}"
