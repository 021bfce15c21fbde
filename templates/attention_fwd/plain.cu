// Attention with float arithmetic, as plainly as it can be written: the same inputs and outputs as
// kernel.cu, every sum in float, one rounding at the end. Its error against the reference is the
// measure of everybody's.

#include "lib/half.cuh"
#include "lib/types.cuh"

constexpr int threads = 128;

__device__ float score(const float *query_smem, const f16 *key_gmem, int D) {
    float sum = 0;
    for (int d = 0; d < D; ++d)
        sum += query_smem[d] * half_to_float(key_gmem[d]);
    return sum / sqrtf(static_cast<float>(D));
}

extern "C" __global__ void attention_plain(const f16 *q, const f16 *k, const f16 *v, f16 *o, int S,
                                           int S_KV, int D, int causal) {
    __shared__ float query_smem[128];
    __shared__ float weight_smem[threads];
    __shared__ float largest_smem[threads];
    const i64 row = blockIdx.x;
    const int i = row % S;
    const i64 head = row / S;
    const f16 *k_gmem = k + head * S_KV * D, *v_gmem = v + head * S_KV * D;
    const int end = causal ? max(min(S_KV, i + S_KV - S + 1), 0) : S_KV; // the keys that it sees

    for (int d = threadIdx.x; d < D; d += threads)
        query_smem[d] = half_to_float(q[row * D + d]);
    __syncthreads(); // the query is there

    float largest = minus_infinity;
    for (int j = threadIdx.x; j < end; j += threads)
        largest = fmaxf(largest, score(query_smem, k_gmem + static_cast<i64>(j) * D, D));
    largest_smem[threadIdx.x] = largest;
    __syncthreads(); // every thread's largest is there
    for (int thread = 0; thread < threads; ++thread)
        largest = fmaxf(largest, largest_smem[thread]);

    float sum = 0, total = 0;
    for (int first = 0; first < end; first += threads) {
        const int j = first + threadIdx.x;
        __syncthreads(); // the weights before have been read
        weight_smem[threadIdx.x] =
            j < end ? expf(score(query_smem, k_gmem + static_cast<i64>(j) * D, D) - largest) : 0.0f;
        __syncthreads(); // the weights of these keys are there
        for (int n = 0; n < min(threads, end - first); ++n) {
            sum += weight_smem[n];
            if (threadIdx.x < D)
                total += weight_smem[n] *
                         half_to_float(v_gmem[static_cast<i64>(first + n) * D + threadIdx.x]);
        }
    }
    if (threadIdx.x < D)
        o[row * D + threadIdx.x] = float_to_half(sum > 0 ? total / sum : 0.0f);
}
