# make bench-attention: which rows it takes, what it stores, repeats and merges, what it searches and freezes, and its
# table. The GPU and evotile are stand-ins, and so are all times.
bench() { python3 "$ROOT/tests/bench/attention.py" --evotile ./evotile --out out --kernels kernels "$@" 2>>log; }
# The table, without what is absent or not measured.
rows() { sed '/^Absent/,$d; /^Not measured/d'; }
mkdir -p bin kernels/one kernels/two kernels/other && PATH=$PWD/bin:$PATH
printf '#!/bin/sh\nexit 1\n' >bin/nvidia-smi && chmod +x bin/nvidia-smi
bench
printf '#!/bin/sh\necho NVIDIA H200, 580.1\n' >bin/nvidia-smi
manifest() { # FOLDER TEMPLATE DEVICE P50 CASE...
    jq -n --arg template "$2" --arg device "$3" --argjson p50 "$4" --args '{
        template: {name: $template}, device: {name: $device}, predicted: false, smem_limit: ($ENV.SMEM // "49152" | tonumber),
        units: [{genome: "TILE=64,STAGES=2,GONE=1"}],
        cases: [$ARGS.positional[] | fromjson | {name: "S=\(.S),S_KV=\(.S_KV),DV=\(.DV)", unit: 0, shape: ., p50_us: $p50,
                                                 operations: 4294967296, bytes: 8388608}]}' "${@:5}" \
        >"$1/manifest.json"
}
short='{"B":1,"H":8,"H_KV":8,"S":512,"S_KV":512,"D":64,"CAUSAL":0,"SCALE":0,"DV":64,"WINDOW":0,"SINKS":0}'
decode='{"B":1,"H":32,"H_KV":8,"S":1,"S_KV":8192,"D":128,"CAUSAL":0}'
batch='{"B":16,"H":32,"H_KV":8,"S":1,"S_KV":4096,"D":128,"CAUSAL":0}'
window='{"B":4,"H":8,"H_KV":8,"S":512,"S_KV":512,"D":64,"CAUSAL":0,"WINDOW":128}' # is no row
narrow='{"B":4,"H":16,"H_KV":16,"S":512,"S_KV":512,"D":64,"DV":32,"CAUSAL":0}'            # nor is this
manifest kernels/one attention_fwd "NVIDIA H200" 6 "$window" "$short"
manifest kernels/two attention_fwd "NVIDIA H200" 5 "$decode" "$window" "$short" "$narrow" # faster
manifest kernels/other attention_fwd "NVIDIA L4" 1 "$short"                     # of another GPU
mkdir kernels/large && SMEM=232448 manifest kernels/large attention_fwd "NVIDIA H200" 1 "$short" # of 227 KB, and the row's has 48
cat >evotile <<'PYTHON'
#!/usr/bin/env python3
import json
import os
import shutil
import sys

verb, words = sys.argv[1], sys.argv[2:]
given = {word: value for word, value in zip(words, words[1:]) if word.startswith("--")}
say = {"duel": [*words[:2], given.get("--goal", "all"), given.get("--implementation")],
       "run": [given.get("--time"), given.get("--seed-genome")], "export": [given.get("--out")]}
print(verb, *say.get(verb, []), file=open("calls", "a"))
if verb == "space":
    print(json.dumps({"genes": [{"name": "TILE", "values": [64]}, {"name": "STAGES", "values": [1, 2]}]}))
elif verb == "run":
    os.makedirs(given["--out"])
    shutil.copy(words[0], given["--out"] + "/run.db")
    print(json.load(open(words[0]))["solutions"], len(json.load(open(words[0]))["cases"]), file=open("calls", "a"))
elif verb == "export":
    os.makedirs(given["--out"], exist_ok=True)
    shutil.copy("exported.json", given["--out"] + "/manifest.json")
elif verb == "duel":
    rival, cases = given["--implementation"], json.load(open(words[0] + "/manifest.json"))["cases"]
    if rival == "flaky" and not os.path.exists("healed"):
        sys.exit(print("evotile: the baseline's program ended", file=sys.stderr) or 1)
    if rival == "efficient":
        sys.exit(print("evotile: efficient does not support this case: too wide", file=sys.stderr) or 1)
    us = {"fa4": 9.5, "cudnn": 9.1, "flaky": 4.0}[rival]
    cases = cases[int(given["--goal"]):][:1] if "--goal" in given else cases
    print(json.dumps({
        "a": "x", "b": "baseline, PyTorch 2 sdpa, flash-attn-4 4.0.0b36", "device": "NVIDIA H200",
        "rows": [{"cases": case["name"], "conditions": "1980 MHz, up to 412 W"} for case in cases],
        "cases": [{"case": case["name"], "p50_us": 5.0, "against": rival, "b_p50_us": us, "times_as_fast": us / 5,
                   "low": us / 5 - 0.01, "high": us / 5 + 0.01} for case in cases]}))
PYTHON
chmod +x evotile
echo "all rivals"
bench --rows "3-4,3 8192,128) decode" --rivals fa4,cudnn,efficient
sort calls
echo "stored duels are not repeated, others are"
rm calls
bench --rows 3 --rivals fa4,cudnn,efficient,flaky | grep 'flaky'
touch healed
bench --rows 3 --rivals fa4,flaky | grep -c 'flaky | 4.00 | 0.800'
sort calls | uniq -c
rm calls
manifest kernels/two attention_fwd "NVIDIA H200" 4 "$decode" "$short" # another kernel: of its duels alone is the row
bench --rows 3 --rivals fa4 | grep '^| 3'
bench --rows 3 --rivals fa4 --again >/dev/null
cat calls
echo "a folder's cases in one duel"
rm calls
bench --rows 3,20 --rivals cudnn >/dev/null
manifest kernels/two attention_fwd "NVIDIA H200" 3 "$decode" "$short"
bench --rows 3,20 --rivals cudnn,efficient >/dev/null
cat calls
echo "rivals are those of this checkout"
rm calls
mkdir -p kernels/two/template/lib && cp -r "$ROOT/templates/attention_fwd" kernels/two/template/ && cp "$ROOT"/templates/lib/*.py kernels/two/template/lib/
bench --rows 3 --rivals cudnn --again >/dev/null
echo "RIVALS = []" >kernels/two/template/attention_fwd/baseline.py
rm kernels/two/template/lib/cudnn_graph.py
bench --rows 3 --rivals cudnn --again >/dev/null
cat calls
diff -rq kernels/two out/kernels/two
echo "RIVALS = []" >out/kernels/two/template/attention_fwd/baseline.py # a copy as --kernels is not lost
bench --rows 3 --rivals cudnn --kernels out/kernels >/dev/null && ls out/kernels/two
cmp out/kernels/two/template/attention_fwd/baseline.py "$ROOT/templates/attention_fwd/baseline.py" && rm -r kernels/two/template
echo "parts of other calls, and other GPUs"
mkdir merged
grep -m1 '"row": 2' out/results.jsonl >merged/a.jsonl
grep -m1 '"row": 19.*fa4' out/results.jsonl | sed 's/NVIDIA H200/NVIDIA L4/' >merged/b.jsonl
printf '{"row": 3, "riv' >>merged/b.jsonl # cut off
bench --out merged --table | rows
bench --out merged --table --json | jq -c '.[] | [.device, .drivers, (.missing | length), .rows[0].without.fa4]'
bench --out nothing --table
echo "searches, from seeds, and frozen kernels"
rm calls
manifest . attention_fwd "NVIDIA H200" 4 "$decode" "$batch" && mv manifest.json exported.json
printf '# ours\nTILE=64;\n\nTILE=64,WARPS=8\n' >seeds # the last is another solution's
bench --rows decode --rivals fa4 --seconds 20 --seeds seeds --freeze frozen | grep -c 'attention_decode_h200'
bench --rows 1-14,21 --rivals fa4 --seconds 20 --freeze frozen; tail -1 log
bench --rows decode --freeze frozen
tail -1 log
grep -v duel calls
rm calls
bench --rows decode --rivals fa4 --seconds 20 >/dev/null # goes on, and the kernel's duels are stored
bench --rows decode --rivals fa4 --seconds 20 --smem 65536; tail -1 log
cat calls
echo "rows that there are not"
for rows in 0 22 1-30 nothing ""; do bench --rows "$rows"; tail -1 log; done
echo "the score is 1 at the limit and 0.5 at the rival"
PYTHONPATH="$ROOT/tests/bench" PYTHONDONTWRITEBYTECODE=1 python3 -c '
from attention_table import limit_us, sol_score
print(sol_score(2, 8, 2), sol_score(8, 8, 2), sol_score(14, 8, 2), sol_score(3, 2, 2), sol_score(3, 2, None))
figures = {"l2_bytes": 100, "l2_gb_per_s": 2e-3, "dram_gb_per_s": 1e-3, "tensor_tflops": 1e-6}
print(limit_us({"operations": 1, "bytes": 20}, figures), limit_us({"operations": 1, "bytes": 26}, figures),
      limit_us({"operations": 50, "bytes": 26}, figures),
      limit_us({"operations": 1, "bytes": 1}, {"l2_bytes": 9, "dram_gb_per_s": 1}), limit_us({}, None))'
echo "evotile takes the configs of its searches and the seeds of the rows without kernels, and every row has a folder"
PYTHONPATH="$ROOT/tests/bench" PYTHONDONTWRITEBYTECODE=1 python3 -c "
import attention, json
from attention_rows import FOLDERS, ROWS, index_of
cache = {'B': 1, 'H': 32, 'H_KV': 8, 'S': 1, 'S_KV': 8192, 'D': 128, 'PAGE': 0, 'RAGGED': 0, 'CAUSAL': 0}
print(index_of(cache), index_of({**cache, 'RAGGED': 1}), index_of({**cache, 'PAGE': 16}), index_of({**cache, 'S_KV': 512}))
print(sorted(index for rows, *_ in FOLDERS.values() for index in rows) == list(range(len(ROWS))))
for name, (rows, *searched) in FOLDERS.items():
    json.dump(attention.search_config([ROWS[index] for index in rows], *searched), open(name, 'w'))"
for name in attention*_h200; do
    "$EVOTILE" space $name --device emulated:sm_90 --json 2>>log >$name.space
    jq -c '[(.goals | length), ([.goals[] | .valid] | min > 0)]' $name.space
    PYTHONPATH="$ROOT/tests/bench" PYTHONDONTWRITEBYTECODE=1 python3 -c "
import attention, types
attention.must_run = lambda words: open('$name.space').read()
genes = {gene['name']: set(map(str, gene['values'])) for gene in attention.json.loads(attention.must_run(0))['genes']}
seeds = attention.seeds_of(types.SimpleNamespace(seeds='$ROOT/tests/bench/attention_seeds.txt', evotile=''), '', ['hopper'], {})
print(len(seeds), 'seeds', all(attention.usable(seed, genes) == seed for seed in seeds))" 2>>log
done
