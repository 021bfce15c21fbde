# Reports of ncu are kept on request: what is said where there can be none, the key in the config, and how reports are
# listed. The reports here are invented files.
. "$ROOT/tests/cli/tell"
small c.json '"objective": "per_case", "search": { "strategy": "random" }'
sed -i 's/{ "ROWS": 4, "COLS": 40 }/{ "ROWS": 4, "COLS": 40 }, { "ROWS": 3, "COLS": 20 }/' c.json
kept() { echo "kept $(jq -c .search.keep_profiles run/config.json), $([ -e run/profiles ] && echo a || echo no) folder: $(sed -n "s/.*warning: //p" log)"; }
"$EVOTILE" run c.json --trials 4 --out run --keep-profiles >/dev/null 2>log
kept
"$EVOTILE" resume run --trials 6 >/dev/null 2>log # the key is the run's
kept
cp -r run plain
sed -i 's/"keep_profiles"[^,}]*,*//' plain/config.json
"$EVOTILE" resume plain --trials 8 2>&1 | grep -c warning
cat >evolve.json <<'JSON'
{ "template": "axpy/loop", "cases": [ { "N": 70 } ], "device": "emulated:sm_90", "budget": { "trials": 1 }, "evolve": { "tune": 1, "proposals": 1 } }
JSON
"$EVOTILE" evolve evolve.json --templates "$ROOT/tests/templates" --proposer 'cat >/dev/null' --out evolved --keep-profiles 2>&1 | grep -c 'no reports of champions will be kept: emulated:sm_90 is not a GPU'

tell profile run --keep | grep -E '^no counters|report|^status'
"$EVOTILE" profile run --keep --json | jq -c '.kept, .missing'
"$EVOTILE" export run --out frozen >/dev/null 2>&1
tell profile frozen --keep

# The list: reports in the order of trials, and nothing else.
"$EVOTILE" summary run --json | jq -c '.profiles'
"$EVOTILE" summary run | grep -c 'reports of Nsight Compute'
mkdir -p run/profiles
touch run/profiles/5.ncu-rep run/profiles/2.ncu-rep run/profiles/3.part.ncu-rep
"$EVOTILE" summary run --json | jq -c '.profiles[] | .trial, .goal, .score > 0, .report'
"$EVOTILE" summary run --markdown | grep -A 5 'reports of Nsight Compute' | sed 's/[0-9]*\.[0-9][0-9]* *|/N |/'
"$EVOTILE" report run --json 2>/dev/null | jq -c '[.. | .profiles? // empty | .[] | .report]'
"$EVOTILE" report run >/dev/null 2>&1 && grep -c 'run/profiles/5.ncu-rep' run/report.html
touch run/profiles/77.ncu-rep # of no trial
"$EVOTILE" summary run 2>&1 >/dev/null
