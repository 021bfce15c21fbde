# gate --criteria and kept reports where there is a GPU and ncu: counters are measured, of a run and of its exported
# machine code, a limit that none can meet is missed, and each champion's report is one that ncu reads.
. "$ROOT/tests/cli/tell"
nvidia-smi -L >/dev/null 2>&1 || { echo "there is no GPU" >&2; exit 77; }
ncu=$(PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin command -v ncu) || { echo "there is no ncu" >&2; exit 77; }
cat >c.json <<JSON
{
  "template": "attention_fwd",
  "objective": "per_case",
  "cases": [ { "B": 2, "H": 16, "S": 1024, "D": 64 }, { "B": 2, "H": 16, "S": 1024, "D": 64, "CAUSAL": 1 } ],
  "genes": { "BLOCK_M": [64], "BLOCK_N": [32, 64], "COPY": ["joint"] },
  "search": { "sanitize_every": -1 }
}
JSON
"$EVOTILE" run c.json --trials 24 --out run --keep-profiles >/dev/null 2>run.log || cat run.log
"$EVOTILE" profile run --json >profile.json 2>/dev/null || echo "profile: status $?"
missing=$(jq -r '.missing // empty' profile.json)
[[ $missing != *ERR_NVGPUCTRPERM* ]] || { echo "$missing" >&2; exit 77; }
echo "missing: ${missing:-nothing}"

# The reports: one a champion, and one of another trial.
reports() { # those that ncu reads, each with kernels of the template
    local file
    for file in run/profiles/*.ncu-rep; do
        "$ncu" --import "$file" --csv --page raw 2>>ncu.log | grep -q attention_fwd && echo "$file"
    done | wc -l
}
reports
"$EVOTILE" summary run --json | jq '.profiles | length'
"$EVOTILE" profile run --rank 2 --keep --json 2>>run.log | jq -r '.kept' | sed 's/[0-9][0-9]*/N/'
reports

last=$("$EVOTILE" board run --json --all | jq '[.rows[].rank] | max')
judged() { # CONDITIONS GATE-ARGUMENTS...
    local status=0
    echo "$1" >criteria.json
    "$EVOTILE" gate "${@:2}" --criteria criteria.json >gated 2>>run.log || status=$?
    jq -c '.criteria.conditions[] | [.condition, .measured != null, .predicted, .passed]' gated
    jq -c '.criteria' gated >&2
    echo "status $status"
}
measured='"p90_slowdown_percent": 100, "spill_bytes": 1048576, "local_bytes": 1048576,
  "counters": { "duration_ns": { "at_least": 1000 }, "sm_percent": { "at_least": 1 },
    "sm_active_percent": { "at_least": 10, "at_most": 101 }, "l2_sectors": { "at_least": 1 } }'
judged "{ \"faster\": [ { \"percent\": 0, \"cases\": 1 } ], $measured }" run --against "run:$last"
judged '{ "counters": { "sm_active_percent": { "at_least": 101 } } }' run --against run
"$EVOTILE" export run --out frozen >/dev/null 2>&1
judged "{ \"every_case\": true, $measured }" frozen --against run

# Of sources that evolve: the best start has a report, and each solution that was promoted.
"$EVOTILE" evolve "$ROOT/configs/evolve_rms_norm.json" --proposer "$ROOT/${BUILD:-build}/proposers/mutate" --proposals 3 --tune 2 \
    --out evolved --keep-profiles >/dev/null 2>>run.log || echo "evolve: status $?"
champions=$("$EVOTILE" summary evolved --lineage --json |
    jq '[0, (.proposals[] | select(.decision == "promote") | .goal)] | unique | length') # goal 0 is the only start
kept=$("$EVOTILE" summary evolved --json | jq '.profiles | length')
((kept == champions)) && echo "each was kept" || echo "$champions champions, $kept reports"
cat run.log >&2
exit 0
