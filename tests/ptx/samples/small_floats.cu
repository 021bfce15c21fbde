// Conversions to fp8 and back: each number to both formats, and all numbers of both formats to f16.
#include <cuda_fp8.h>
extern "C" __global__ void small_floats(const float2 *in, __nv_fp8x2_e4m3 *narrow, __nv_fp8x2_e5m2 *wide,
                                        __half2 *of_narrow, __half2 *of_wide, int pairs) {
    for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
        narrow[i] = __nv_fp8x2_e4m3(in[i]);
        wide[i] = __nv_fp8x2_e5m2(__float22half2_rn(in[i]));
    }
    const int i = threadIdx.x; // up to 128
    __nv_fp8x2_e4m3 a;
    __nv_fp8x2_e5m2 b;
    a.__x = b.__x = static_cast<unsigned short>(2 * i | (2 * i + 1) << 8);
    of_narrow[i] = static_cast<__half2>(a);
    of_wide[i] = static_cast<__half2>(b);
}
