# watch, --nice and --max-temperature where there is a GPU: what NVML tells is shown, and a run leaves the
# GPU alone while another process computes on it.
. "$ROOT/tests/cli/tell"
nvidia-smi -L >/dev/null 2>&1 || { echo "there is no GPU" >&2; exit 77; }
cat >c.json <<JSON
{
  "template": "attention_fwd",
  "cases": [ { "B": 1, "H": 8, "S": 512, "D": 64 } ],
  "budget": { "time": "5m" },
  "device": "cuda:0"
}
JSON
sed 's/"cuda:0"/"cuda:0", "seed": 2/' c.json >other.json
status() { "$EVOTILE" watch run --json | sed -n "s/.*\"$1\":[^0-9\"]*\"\{0,1\}\([^\",]*\).*/\1/p" | head -n 1; }
until_phase() { # at most a minute
    local tries
    for ((tries = 0; tries < 600; tries++)); do
        [ "$(status phase)" = "$1" ] && { echo "$1"; return; }
        sleep 0.1
    done
    echo "not $1 but $(status phase): $(status reason)"
}
"$EVOTILE" run c.json --nice --max-temperature 110 --out run >/dev/null 2>run.log &
run=$!
wait_for run
until_phase searching
sleep 3
LC_ALL=C "$EVOTILE" watch run --once >view
grep -cE '^GPU +SM [0-9]+ of [0-9]+ MHz, memory [0-9]+ of [0-9]+ MHz, [0-9]+ of 110 C, [0-9]+ of [0-9]+ W' view
grep -cE '^workers +(evaluates [0-9]+ [0-9.]+ s|device idle)' view
cat view >&2

# Another run is another process, whose own --nice is not asked for.
"$EVOTILE" run other.json --out other >/dev/null 2>&1 &
other=$!
until_phase paused
"$EVOTILE" watch run --json | grep -o '"reason":.*on the GPU"' | tr -d '\t' | sed 's/[0-9]* other process[es]*/N others/'
sleep 2 # what has begun is finished
told=$(status told)
sleep 3
[ "$(status told)" = "$told" ] && echo "nothing is told"
kill -INT $other
wait $other
until_phase searching
kill -INT $run
wait $run
echo "status $?"
status phase
