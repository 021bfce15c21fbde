# compute-sanitizer where there is a GPU. Its initcheck does not see what the copy engine stores: results that it has written
# are no reads of uninitialised memory.
. "$ROOT/tests/cli/tell"
nvidia-smi -L >/dev/null 2>&1 || { echo "there is no GPU" >&2; exit 77; }
command -v compute-sanitizer >/dev/null || { echo "compute-sanitizer is not installed" >&2; exit 77; }
"$EVOTILE" sanitize "$ROOT/kernels/gemm_activations_h200" --goal 0 >table
echo "status $?"
awk 'NR > 1 { print $(NF - 2), $(NF - 1) }' table
