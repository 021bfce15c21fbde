// Arithmetic on f16 and bf16 pairs; the tenth result is the neighbour's pair.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
extern "C" __global__ void halves(const __half2 *a, const __half2 *b, __half2 *out,
                                  const __nv_bfloat162 *c, const __nv_bfloat162 *d, __nv_bfloat162 *also) {
    const int i = threadIdx.x;
    const __half2 x = a[i], y = b[i];
    const __half2 results[] = {__hadd2(x, y),       __hsub2(x, y), __hmul2(x, y),  __hfma2(x, y, x),
                               __hmax2(x, y),       __hmin2(x, y), __habs2(x),     __hneg2(y),
                               __hfma2_relu(x, y, x), __shfl_xor_sync(0xffffffff, x, 1)};
    for (int j = 0; j < 10; j++)
        out[10 * i + j] = results[j];
    const __nv_bfloat162 u = c[i], v = d[i];
    const __nv_bfloat162 more[] = {__hadd2(u, v), __hsub2(u, v), __hmul2(u, v), __hfma2(u, v, u),
                                   __hmax2(u, v), __hmin2(u, v), __habs2(u),    __hneg2(v),
                                   __hfma2_relu(u, v, u), __shfl_xor_sync(0xffffffff, u, 1)};
    for (int j = 0; j < 10; j++)
        also[10 * i + j] = more[j];
}
