# make bench-kernels: its rows and their rivals, which kernels are taken for them, and what its searches search. The GPU and
# evotile's duels are stand-ins; bench_attention.sh tests what both benches share.
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$ROOT/tests/bench
bench() { python3 "$ROOT/tests/bench/kernels.py" --evotile ./evotile --out out --kernels kernels "$@" 2>>log; }
mkdir -p bin kernels/one kernels/two kernels/gemm_epilogues_h200 && PATH=$PWD/bin:$PATH
printf '#!/bin/sh\nexit 1\n' >bin/nvidia-smi && chmod +x bin/nvidia-smi
bench
printf '#!/bin/sh\necho NVIDIA H200, 580.1\n' >bin/nvidia-smi
manifest() { # FOLDER TEMPLATE CASE...
    jq -n --arg template "$2" --args '{
        template: {name: $template}, device: {name: "NVIDIA H200"}, predicted: false, smem_limit: (if $template == "gemm" then 232448 else 49152 end),
        units: [{genome: "SWAP=1"}],
        cases: [$ARGS.positional[] | fromjson | {name: tostring, unit: 0, shape: ., p50_us: 5,
                                                 operations: 4294967296, bytes: 33554432}]}' "${@:3}" >"$1/manifest.json"
}
product='"M":16,"N":14336,"K":4096,"TRANS_A":0,"TRANS_B":1'
manifest kernels/one gemm "{$product,\"BATCH\":1,\"BF16\":1,\"EPILOGUE\":2}" "{$product,\"BATCH\":1,\"BF16\":1,\"EPILOGUE\":0}" \
    "{$product,\"BATCH\":1,\"BF16\":0,\"EPILOGUE\":0}" "{$product,\"BATCH\":2,\"BF16\":1,\"EPILOGUE\":0}" # the last two are no rows
manifest kernels/two add_rms_norm '{"ROWS":16,"COLS":8192,"EPSILON":1e-05,"BF16":1}'
# The folder that is named for a row has its kernel, whatever the recorded times.
manifest kernels/gemm_epilogues_h200 gemm "{$product,\"BATCH\":1,\"BF16\":1,\"EPILOGUE\":2}"
sed -i 's/"p50_us": 5/"p50_us": 6/' kernels/gemm_epilogues_h200/manifest.json
cat >evotile <<'PYTHON'
#!/usr/bin/env python3
import json
import sys

words = sys.argv[1:]
rival, goal = words[words.index("--implementation") + 1], int(words[words.index("--goal") + 1])
case = json.load(open(words[1] + "/manifest.json"))["cases"][goal]
print(json.dumps({"b": "baseline, PyTorch 2 products", "device": "NVIDIA H200", "rows": [], "cases": [
    {"case": case["name"], "p50_us": 5.0, "against": rival, "b_p50_us": 6.0, "times_as_fast": 1.2, "low": 1.1, "high": 1.3}]}))
PYTHON
chmod +x evotile
bench --rows "16,14336,4096) (16,8192"
bench --rows 30
tail -1 log
python3 -c "
import kernels, attention, json
from kernel_rows import AIMS, FOLDERS, ROWS, index_of
print(len(ROWS), len(AIMS), sorted(index for rows, *_ in FOLDERS.values() for index in rows) == list(range(len(ROWS))))
for name, (rows, *searched) in FOLDERS.items():
    json.dump(attention.search_config([ROWS[index] for index in rows], *searched), open(name, 'w'))"
for name in *_h200; do
    "$EVOTILE" space $name --device emulated:sm_90 --json 2>>log | jq -c '[(.goals | length), ([.goals[] | .valid] | min > 0)]'
done
# A search takes the seeds of each of its solutions, and the genome of a frozen kernel where a solution still has its genes.
python3 -c "
import attention, types
from kernel_rows import FOLDERS
options = types.SimpleNamespace(seeds='$ROOT/tests/bench/gemm_seeds.txt', evotile='$EVOTILE')
run = attention.must_run
attention.must_run = lambda words: run([*words, '--device', 'emulated:sm_90'])
kernels = {0: {'genome': 'SWAP=1,BLOCK_M=64,BLOCK_N=8,GROUP=99'}, 1: {'genome': 'OTHER=1,WARPS=4'}}
for name in 'gemm_few_rows_h200', 'gemm_h200':
    seeds = attention.seeds_of(options, name, FOLDERS[name][2], kernels)
    print(name, *(sum(gene in seed.split(',')[0] for seed in seeds) for gene in ('WARPS', 'SWAP', 'BLOCK_M')), seeds[-1])" 2>>log
