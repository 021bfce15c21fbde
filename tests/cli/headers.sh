# A template may include the toolkit's headers and call printf: on the emulated device, with --diagnose, and exported.
. "$ROOT/tests/cli/tell"
mkdir mine
cp -r "$ROOT/tests/templates/scaled_add" mine/
echo '{ "template": "scaled_add", "cases": [{"ROWS": 6, "COLS": 40}], "budget": {"trials": 1} }' >c.json
cd mine/scaled_add || exit 1
sed -i 's|^extern "C"|#include <cooperative_groups.h>\n#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n#include <mma.h>\n&|
    s|^    const int count.*|&\n    cooperative_groups::this_thread_block().sync();\n    if (threadIdx.x == 0 \&\& ROWS == 6) printf("%d rows of %s\\n", ROWS, "floats");|
    s|: 2.0f) \* a\[i\]|: __half2float(__float2half(1.0f)) + __bfloat162float(__float2bfloat16(1.0f))) * a[i]|' kernel.cu
cd ../.. || exit 1
tell try c.json --templates mine --device emulated:sm_89 --diagnose
"$EVOTILE" run c.json --templates mine --device emulated:sm_89 --compile-workers 1 --out run >/dev/null 2>&1
tell export run --out frozen | tail -n 1
grep '^#include <' frozen/kernel.cu | LC_ALL=C sort -u
