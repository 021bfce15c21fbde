# The gallery's configs have valid genomes, and its baselines answer every request: PyTorch and the GPU are stand-ins,
# (stand_in/torch.py), whose calls do nothing and take 20 us each.
ask() { # FOLDER CASE: what its baseline answers
    jq -nc --argjson case "$2" '
        {ask: "begin", protocol: 1, device: "cuda:0", device_name: "a GPU"},
        ({ask: "capture", case: $case, implementation: ("eager", "compiled"), launches: 4, sets: 2},
         {ask: "warm", warmup_us: 100, samples: 2}, {ask: "cold", samples: 1})' |
        (cd "$1" && python3 "$ROOT/templates/lib/torch_baseline.py" baseline.py)
}
gallery() { # NAME CASE, with the dimensions that have defaults, and the config if it has another name
    echo "$1"
    "$EVOTILE" space "$ROOT/configs/${3:-$1}.json" --device emulated:sm_90 --json |
        jq -r '.goals[] | select(.valid == 0) | "\(.name) has no valid genome"'
    PYTHONPATH=$ROOT/tests/cli/stand_in ask "$ROOT/templates/$1" "$2"
}
export PYTHONDONTWRITEBYTECODE=1
gallery reduce_sum '{"N": 1000}'
gallery transpose '{"ROWS": 30, "COLS": 20, "F32": 0}'
gallery gemm_f32 '{"M": 10, "N": 20, "K": 30}'
gallery gemm '{"M": 10, "N": 16, "K": 24, "BATCH": 1, "TRANS_A": 0, "TRANS_B": 1, "BF16": 1, "EPILOGUE": 4}' gemm_h200
gallery convolution_2d '{"H": 10, "W": 20, "R": 2}'
gallery stencil_2d '{"H": 10, "W": 20, "STEPS": 3, "COURANT": 0.25}'
gallery nbody '{"N": 3000, "SOFTENING": 0.01}'
gallery add_rms_norm '{"ROWS": 8, "COLS": 64, "EPSILON": 0.00001, "BF16": 1}'
gallery layer_norm '{"ROWS": 8, "COLS": 64, "EPSILON": 0.00001, "F32": 0}'
gallery cross_entropy '{"ROWS": 8, "VOCABULARY": 64, "F32": 0}'
gallery softmax_rows '{"ROWS": 10, "COLS": 20, "F32": 0}' softmax
gallery quantized_gemv '{"M": 2, "N": 16, "K": 256, "GROUP": 128, "BF16": 1}'
gallery spmv_csr '{"ROWS": 20, "COLS": 10, "NONZEROS": 60}'

echo "what is no use"
PYTHONPATH=$ROOT/tests/cli/stand_in ask "$ROOT/templates/transpose" '{"ROWS": 30, "COLS": 20}' | sed -n 2p # no F32
mkdir -p mine && cp "$ROOT/templates/lib/torch_baseline.py" mine
cat >mine/baseline.py <<'PYTHON'
NAME = "mine"
def inputs(case):
    return (case["N"],)
def refuses(n):
    raise NotImplementedError(f"not for {n} numbers")
def fails(n):
    raise RuntimeError("out of memory\nand more")
IMPLEMENTATIONS = {"eager": refuses, "compiled": fails}
PYTHON
PYTHONPATH=$ROOT/tests/cli/stand_in ask mine '{"N": 5}'
mkdir without && echo 'raise ImportError("none here")' >without/torch.py
PYTHONPATH=$PWD/without ask mine '{"N": 5}' | sed -n 's/for [^ ]* (/for PYTHON (/; 1p'
echo '{"ask": "begin", "protocol": 1, "device": "emulated:sm_90"}' | (cd mine && python3 "$ROOT/templates/lib/torch_baseline.py" baseline.py)
python3 mine/torch_baseline.py 2>&1 | head -1
