# make bench-attention: which rows it takes, what it stores and repeats, and its table. The GPU and evotile are stand-ins,
# and so are all times.
bench() { python3 "$ROOT/tests/bench/attention.py" --evotile ./evotile --out out --kernels kernels "$@" 2>>log; }
mkdir -p bin kernels/one kernels/two kernels/other && PATH=$PWD/bin:$PATH
printf '#!/bin/sh\nexit 1\n' >bin/nvidia-smi && chmod +x bin/nvidia-smi
bench
printf '#!/bin/sh\necho NVIDIA H200\n' >bin/nvidia-smi
manifest() { # FOLDER TEMPLATE DEVICE P50 CASE...
    jq -n --arg template "$2" --arg device "$3" --argjson p50 "$4" --args '{
        template: {name: $template}, device: {name: $device}, predicted: false, smem_limit: 49152,
        cases: [$ARGS.positional[] | fromjson | {shape: ., p50_us: $p50, operations: 4294967296, bytes: 8388608}]}' "${@:5}" \
        >"kernels/$1/manifest.json"
}
short='{"B":1,"H":8,"H_KV":8,"S":512,"S_KV":512,"D":64,"CAUSAL":0,"SCALE":0,"DV":64,"WINDOW":0,"SINKS":0}'
decode='{"B":1,"H":32,"H_KV":8,"S":1,"S_KV":8192,"D":128,"CAUSAL":0}'
window='{"B":4,"H":8,"H_KV":8,"S":512,"S_KV":512,"D":64,"CAUSAL":0,"WINDOW":128}' # is no row
narrow='{"B":4,"H":16,"H_KV":16,"S":512,"S_KV":512,"D":64,"DV":32,"CAUSAL":0}'            # nor is this
manifest one attention_fwd "NVIDIA H200" 6 "$window" "$short"
manifest two attention_fwd "NVIDIA H200" 5 "$decode" "$window" "$short" "$narrow" # faster
manifest other attention_fwd "NVIDIA L4" 1 "$short"                     # of another GPU
cat >evotile <<'PYTHON'
#!/usr/bin/env python3
import json
import os
import sys

options = dict(zip(sys.argv[4::2], sys.argv[5::2]))
rival, goal = options["--implementation"], int(options["--goal"])
print(sys.argv[1:3], goal, rival, file=open("calls", "a"))
if rival == "flaky" and not os.path.exists("healed"):
    sys.exit(print("evotile: the baseline's program ended", file=sys.stderr) or 1)
if rival == "efficient":
    sys.exit(print("evotile: efficient does not support this case: too wide", file=sys.stderr) or 1)
us = {"fa4": 9.5, "cudnn": 9.1, "flaky": 4.0}[rival]
print(json.dumps({"a": "x", "b": "baseline, PyTorch 2 sdpa, flash-attn-4 4.0.0b36", "device": "NVIDIA H200", "rows": [],
                  "cases": [{"case": "c", "p50_us": 5.0, "p90_us": 5.1, "tflops": 1, "against": rival, "b_p50_us": us,
                             "b_p90_us": us, "times_as_fast": us / 5, "low": us / 5 - 0.01, "high": us / 5 + 0.01}]}))
PYTHON
chmod +x evotile
echo "all rivals"
bench --rows "3-4,3 8192,128) decode" --rivals fa4,cudnn,efficient | tee first | grep -v '^Row'
grep -c '^Row' first
sort calls
echo "stored duels are not repeated, others are"
rm calls
bench --rows 3 --rivals fa4,cudnn,efficient,flaky | grep -c 'Row 3 without flaky: the baseline'
touch healed
bench --rows 3 --rivals fa4,flaky | grep -c '0.800'
sort calls | uniq -c
rm calls
manifest two attention_fwd "NVIDIA H200" 4 "$decode" "$short" # another kernel
bench --rows 3 --rivals fa4 >/dev/null
bench --rows 3 --rivals fa4 --again >/dev/null
cat calls
echo "rows that there are not"
for rows in 0 22 1-30 nothing; do bench --rows $rows; tail -1 log; done
echo "the score is 1 at the limit and 0.5 at the rival"
PYTHONPATH="$ROOT/tests/bench" PYTHONDONTWRITEBYTECODE=1 python3 -c '
from attention import limit_us, sol_score
print(sol_score(2, 8, 2), sol_score(8, 8, 2), sol_score(14, 8, 2), sol_score(3, 2, 2), sol_score(3, 2, None))
figures = {"l2_bytes": 100, "l2_gb_per_s": 2e-3, "dram_gb_per_s": 1e-3, "tensor_tflops": 1e-6}
print(limit_us({"operations": 1, "bytes": 20}, figures), limit_us({"operations": 1, "bytes": 26}, figures),
      limit_us({"operations": 50, "bytes": 26}, figures))'
echo "evotile takes the configs of its searches"
for row in 3 20; do
    PYTHONPATH="$ROOT/tests/bench" PYTHONDONTWRITEBYTECODE=1 python3 -c "
import attention, json
print(json.dumps(attention.search_config(attention.ROWS[$row - 1], 232448)))" >search.json
    "$EVOTILE" space search.json --device emulated:sm_90 --json | jq '[.goals[] | select(.valid > 0)] | length > 0'
done
