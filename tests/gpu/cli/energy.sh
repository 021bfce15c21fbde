# Energy where there is a GPU that counts it: what try, a search and the board say, not how much anything takes.
. "$ROOT/tests/cli/tell"
nvidia-smi -L >/dev/null 2>&1 || { echo "there is no GPU" >&2; exit 77; }
cat >c.json <<JSON
{
  "template": "attention_fwd",
  "cases": [ { "B": 16, "H": 16, "S": 1024, "D": 64 } ],
  "genes": { "BLOCK_M": [64, 128], "BLOCK_N": [32, 64], "WARPS": [4], "COPY": ["joint"], "MATH": ["mma"] },
  "budget": { "trials": 8 }
}
JSON
"$EVOTILE" try c.json --json >try.json || cat try.json
jq -e '.cases[0].energy_mj > 0' try.json >/dev/null || { echo "NVML counts no energy here" >&2; exit 77; }
jq '.cases[0] | .energy_error < 0.1, .energy_watts > .idle_watts, .idle_watts > 0' try.json
for minimise in energy pareto; do
    sed "2i \"minimise\": \"$minimise\"," c.json >$minimise.json
    "$EVOTILE" run $minimise.json --out $minimise >/dev/null 2>log.text || cat log.text
    grep -m 1 -o 'champion: trial 0, [0-9.]* mJ[ us]*,' log.text | sed 's/[0-9.]* mJ/N mJ/'
    "$EVOTILE" board $minimise --json --all >board.json
    jq '[.rows[] | .energy_mj > 0] | all' board.json
    jq '[.rows | sort_by(.rank)[].score] | length > 1 and . == sort' board.json
done
jq '[.rows[] | select(.on_front)] | length > 0' board.json
point=$(jq '[.rows[] | select(.on_front)] | last | .trial' board.json)
"$EVOTILE" export pareto --trial "$point" --out front_point >/dev/null 2>&1 || echo "export: status $?"
jq '.cases[0].energy_mj > 0' front_point/manifest.json
