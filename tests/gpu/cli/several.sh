# All GPUs of the host in one run: each does its share, a lost worker costs one trial, and resume takes all again.
gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU ')
[ -z "${CUDA_VISIBLE_DEVICES-}" ] || gpus=$(tr ',' '\n' <<<"$CUDA_VISIBLE_DEVICES" | wc -l)
((gpus > 1)) || { echo "there is one GPU at most" >&2; exit 77; }
cat >c.json <<JSON
{
  "template": "attention_fwd",
  "cases": [ { "B": 1, "H": 8, "S": 512, "D": 64 } ],
  "search": { "sanitize_every": -1 }
}
JSON
used() { # RUN: devices that did a trial, and whether the least busy had a tenth of an even share
    python3 - "$1" "$gpus" <<'PY'
import sqlite3, sys
store = sqlite3.connect(f"file:{sys.argv[1]}/run.db?mode=ro", uri=True)
rows = store.execute("SELECT count(*) FROM trials WHERE worker LIKE 'cuda:%' GROUP BY worker").fetchall()
counts = [row[0] for row in rows]
print("all" if len(counts) == int(sys.argv[2]) else f"{len(counts)} of {sys.argv[2]}", "GPUs worked;",
      "evenly" if min(counts) > 0.1 * sum(counts) / len(counts) else f"unevenly: {counts}")
print(store.execute("SELECT count(*) FROM trials WHERE told IS NULL").fetchone()[0], "lost")
PY
}
"$EVOTILE" run c.json --device cuda:all --trials $((100 * gpus)) --out run 2>run.log &
run=$!
until "$EVOTILE" board run >/dev/null 2>&1 || ! kill -0 $run; do sleep 0.1; done # calibrated, and searching
sleep 1
# The oldest worker of the last GPU is killed in the middle of its work.
pkill -o -KILL -P $run -f "pool-worker device cuda:$((gpus - 1))" && echo "one worker was killed"
wait $run
echo "status $?"
used run
"$EVOTILE" resume run --trials $((150 * gpus)) 2>>run.log
echo "status $?"
used run
grep -E 'warning|error' run.log
exit 0
