// Attention without tensor cores in double: the reference. Formula and shapes are in kernel.cu.
//
// Compiled once for all cases: element type and layout are run-time arguments; the rows of Q and K
// may have gaps between them. `scale` 0 selects 1 / sqrt(D); `window` and `soft_cap` 0 and null
// `sinks` mean none, and a null `lse` that LSE is not wanted. With cu_seqlens_q and cu_seqlens_k
// the B sequences are packed, and S and S_KV are their most rows. Up to 4 queries a head have a
// kernel of their own: a tile would be mostly empty.

#include "reference_few.cuh"
#include "reference_tiles.cuh"

extern "C" __global__ void __launch_bounds__(threads, 2)
    attention_reference(const u16 *q, const u16 *k, const u16 *v, const float *sinks, double *o,
                        double *lse, const int *cu_seqlens_q, const int *cu_seqlens_k, int B, int H,
                        int H_KV, int S, int S_KV, int D, int DV, int causal, int window,
                        int soft_cap, int is_bf16, int rows_outside, int gap, float scale) {
    tiled<double>(q, k, v, o, lse, H, H_KV, {cu_seqlens_q, B, S}, {cu_seqlens_k, B, S_KV}, D, DV,
                  is_bf16, rows_outside, gap, scoring{sinks, causal, window, soft_cap, scale});
}

extern "C" __global__ void __launch_bounds__(threads)
    attention_reference_of_few(const u16 *q, const u16 *k, const u16 *v, const float *sinks,
                               double *o, double *lse, const int *cu_seqlens_q,
                               const int *cu_seqlens_k, int B, int H, int H_KV, int S, int S_KV,
                               int D, int DV, int causal, int window, int soft_cap, int is_bf16,
                               int rows_outside, int gap, float scale) {
    few_queries<double>(q, k, v, o, lse, H, H_KV, {cu_seqlens_q, B, S}, {cu_seqlens_k, B, S_KV}, D,
                        DV, is_bf16, rows_outside, gap,
                        scoring{sinks, causal, window, soft_cap, scale});
}
