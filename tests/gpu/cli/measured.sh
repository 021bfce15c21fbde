# baseline, duel, ablate and profile where there is a GPU: what each says, not how fast anything is. PyTorch and ncu
# are used where they are.
. "$ROOT/tests/cli/tell"
nvidia-smi -L >/dev/null 2>&1 || { echo "there is no GPU" >&2; exit 77; }
cat >c.json <<JSON
{
  "template": "attention_fwd",
  "objective": "per_case",
  "cases": [ { "B": 1, "H": 8, "S": 512, "D": 64 }, { "B": 1, "H": 8, "S": 512, "D": 64, "CAUSAL": 1 } ],
  "genes": { "BLOCK_M": [64], "BLOCK_N": [64], "WARPS": [4], "COPY": ["joint"] }
}
JSON
sed 's/"genes"/"timing": { "launches": 1, "input_sets": 3 }, "genes"/' c.json >single.json
"$EVOTILE" try single.json --goal 0 >/dev/null && echo "one call a sample"
"$EVOTILE" run c.json --trials 24 --out run >/dev/null 2>run.log || cat run.log
"$EVOTILE" board run --json | grep -c '"placement_spread":	[0-9]' | sed 's/[1-9][0-9]*/some/'
"$EVOTILE" ablate run --goal 0 >ablate.text || echo "ablate: status $?"
grep -cE 'slower|no difference|faster' ablate.text | sed 's/[1-9][0-9]*/some/'
"$EVOTILE" profile run --goal 0 >profile.text || echo "profile: status $?"
grep -cE 'multiprocessors|waves|ceiling|measured to allow' profile.text | sed 's/[1-9][0-9]*/some/'
"$EVOTILE" profile run --goal 0 --json >profile.json || echo "profile: status $?"
if grep -q '"missing"' profile.json; then
    echo 11 # nothing was counted
else
    grep -c '"PROFILED_' profile.json # what insights may read
fi
cat profile.text >&2
if python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
    "$EVOTILE" baseline run --json >baseline.json || echo "baseline: status $?"
    grep -c '"fastest":	"' baseline.json
    "$EVOTILE" board run --json | grep -c '"ratio_to_baseline":	[0-9]' | sed 's/[1-9][0-9]*/some/'
    "$EVOTILE" duel run baseline --json >duel.json || echo "duel: status $?"
    grep -c '"times_as_fast":	[0-9]' duel.json
    "$EVOTILE" gate run --against baseline --tolerance 1000 >/dev/null
    echo "gate: status $?"
else
    printf '%s\n' 2 some 2 "gate: status 0" # nothing to compare with
fi
