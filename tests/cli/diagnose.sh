# A race in a kernel is found without a GPU, with its source line; the unmodified template has none.
. "$ROOT/tests/cli/tell"
mkdir mine
cp -r "$ROOT/tests/templates/scaled_add" mine/
echo '{ "template": "scaled_add", "cases": [{"ROWS": 6, "COLS": 40}] }' >c.json
tell try c.json --templates mine --device emulated:sm_89 --diagnose
sed -i 's/c\[i\] =/c[i \& ~1] =/' mine/scaled_add/kernel.cu
tell try c.json --templates mine --device emulated:sm_89 --diagnose
tell try c.json --templates mine --device cuda:0 --diagnose
"$EVOTILE" try c.json --templates mine --device emulated:sm_89 --diagnose --json | grep -E '"(kind|kernel|tensor)"'
# The candidate runs in a worker: what it prints is shown as text, and what kills the compiler costs the worker.
cp "$ROOT/tests/templates/scaled_add/kernel.cu" mine/scaled_add/
sed -i 's/const int count = ROWS \* COLS;/& if (blockIdx.x + threadIdx.x == 0) printf("\\033[2J%d\\n", COLS);/' mine/scaled_add/kernel.cu
"$EVOTILE" try c.json --templates mine --device emulated:sm_89 --diagnose 2>&1 >/dev/null | sort -u
cat >>mine/scaled_add/kernel.cu <<'CUDA'
extern "C" __global__ void endless(float *x) {
#pragma unroll
    for (int i = 0; i < 4096; i++)
#pragma unroll
        for (int j = 0; j < 4096; j++)
            x[j] += x[i] * (j + 1);
}
CUDA
export EVOTILE_COMPILE_SECONDS=1
tell try c.json --templates mine --device emulated:sm_89 --diagnose
