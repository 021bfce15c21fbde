#!/usr/bin/env bash
# evotile.cutlass with a profiler that prints what CUTLASS's does: the fastest kernel that passed counts, a faster one that is wrong
# does not, and what is missing is named.
set -euo pipefail
cd "$TMPDIR"
export PYTHONPATH=$ROOT/python PYTHONDONTWRITEBYTECODE=1
echo "{ \"template\": \"$ROOT/tests/bench/gemm\", \"cases\": [{ \"M\": 64, \"N\": 48, \"K\": 40 }], \"device\": \"emulated:sm_90\" }" >gemm.json
"$EVOTILE" run gemm.json --trials 2 --out run 2>/dev/null
cat >profiler <<'PROFILER'
#!/usr/bin/env bash
echo "$*" >>asked
kernel() { printf '=============================\n  Problem ID: 1\n\n        Provider: CUTLASS\n       Operation: %s\n\n          Status: Success\n     Disposition: %s\n\n         Runtime: %s  ms\n            Math: 17218.4 GFLOP/s\n' "$@"; }
[ "${NOTHING:-}" ] || kernel cutlass_simt_sgemm_128x128_8x2_tt_align1 Passed 0.0123
[ "${NOTHING:-}" ] || kernel cutlass_simt_sgemm_64x64_8x2_tt_align1 Passed 0.00834
kernel cutlass_simt_sgemm_32x128_8x2_tt_align1 Failed 0.0001
printf '  Problem ID: 1\n       Operation: cutlass_not_run\n          Status: Not supported\n'
PROFILER
chmod +x profiler
compare() { python3 -m evotile.cutlass "$@" --evotile "$EVOTILE"; }
refused() { # WORDS ARGUMENT...
    local words=$1
    shift
    if compare "$@" 2>message; then echo "not refused: $*"; exit 1; fi
    grep -qF "$words" message || { echo "not \"$words\", but:"; cat message; exit 1; }
}
python3 -m evotile.cutlass run --profiler ./profiler --evotile "$EVOTILE" --json -- --A=f32:row --B=f32:row >found.json
python3 - <<'PY'
import json
case, = json.load(open("found.json"))["cases"]
assert case["cutlass"] == "cutlass_simt_sgemm_64x64_8x2_tt_align1" and case["cutlass_passed"] == 2, case
assert abs(case["cutlass_us"] - 8.34) < 1e-9 and case["predicted"] and case["p50_us"] > 0, case
assert abs(case["estimated_times_as_fast"] - 8.34 / case["p50_us"]) < 1e-9, case
assert open("asked").read() == "--operation=Gemm --providers=cutlass --m=64 --n=48 --k=40 --A=f32:row --B=f32:row\n"
PY
compare run --profiler ./profiler | grep -q 'us predicted; CUTLASS 8.34 us'
compare run --profiler ./profiler --dimensions N,M,K >/dev/null
grep -q -e '--m=48 --n=64 --k=40' asked
refused "is not installed: build it" run --profiler ./missing
refused "has no dimension ROWS" run --profiler ./profiler --dimensions ROWS,N,K
refused "name three" run --profiler ./profiler --dimensions N,K
refused "nothing" nothing --profiler ./profiler
NOTHING=1 refused "of 1 kernels of ./profiler none passed" run --profiler ./profiler
