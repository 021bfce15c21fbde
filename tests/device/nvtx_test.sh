#!/usr/bin/env bash
# A library injected like Nsight Systems' sees a range for compiling, verifying and timing each trial, and
# the end of each range. Exit status 77 if the CUDA Toolkit lacks NVTX.
set -u
. "$ROOT/tests/cli/tell"
cd "$TMPDIR" || exit 1
cuda=${CUDA_HOME:-$(dirname "$(dirname "$(realpath "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")")}
[ -e "$cuda/include/nvtx3/nvToolsExt.h" ] || { echo "no nvtx3 in $cuda/include"; exit 77; }
gcc -shared -fPIC -I"$cuda/include" -o nsight.so "$ROOT/tests/device/fake_nsight.c" || exit 1
small c.json
export ASAN_OPTIONS=detect_leaks=0
NVTX_INJECTION64_PATH=$PWD/nsight.so FAKE_NSIGHT=$PWD/ranges "$EVOTILE" run c.json --trials 6 --out run 2>said ||
    { cat said; exit 1; }
failed=0
for trial in 0 1 2 3 4 5; do
    for range in compile verify time; do
        grep -q "^[0-9]* begin $range $trial\$" ranges || { echo "no range: $range $trial"; failed=1; }
    done
done
# Ranges nest within a process, and all of them end.
awk '{ depth[$1] += $2 == "begin" ? 1 : -1 }
     depth[$1] < 0 { print "line " NR ": an end without a range"; bad = 1 }
     END { for (process in depth) if (depth[process] != 0) { print "a range did not end"; bad = 1 }; exit bad }' ranges || failed=1
((failed)) && cat ranges
exit $failed
