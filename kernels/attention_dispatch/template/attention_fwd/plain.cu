// The plain kernel: reference.cu in float, with 16-bit outputs. Its error against the reference
// sets the error bound for all candidates.

#include "reference_few.cuh"
#include "reference_tiles.cuh"

extern "C" __global__ void __launch_bounds__(threads, 3)
    attention_plain(const u16 *q, const u16 *k, const u16 *v, const float *sinks, u16 *o,
                    float *lse, const int *cu_seqlens_q, const int *cu_seqlens_k, int B, int H,
                    int H_KV, int S, int S_KV, int D, int DV, int causal, int window, int soft_cap,
                    int is_bf16, int rows_outside, int gap, float scale) {
    tiled<float>(q, k, v, o, lse, H, H_KV, {cu_seqlens_q, B, S}, {cu_seqlens_k, B, S_KV}, D, DV,
                 is_bf16, rows_outside, gap, scoring{sinks, causal, window, soft_cap, scale});
}

extern "C" __global__ void __launch_bounds__(threads)
    attention_plain_of_few(const u16 *q, const u16 *k, const u16 *v, const float *sinks, u16 *o,
                           float *lse, const int *cu_seqlens_q, const int *cu_seqlens_k, int B,
                           int H, int H_KV, int S, int S_KV, int D, int DV, int causal, int window,
                           int soft_cap, int is_bf16, int rows_outside, int gap, float scale) {
    few_queries<float>(q, k, v, o, lse, H, H_KV, {cu_seqlens_q, B, S}, {cu_seqlens_k, B, S_KV}, D,
                       DV, is_bf16, rows_outside, gap,
                       scoring{sinks, causal, window, soft_cap, scale});
}
