// x += update; y = x / rms(x) * weight: a block has one row. template.json describes the genes; the faults are those of kernels
// that count on what an earlier call left.

constexpr int unroll = UNROLL; // nvcc expands no macro in a pragma

__device__ unsigned calls;           // FAULT_ONCE, FAULT_HALF_A_CALL, FAULT_IN_TURNS: of block 0
__device__ float first_sum[1 << 12]; // FAULT_SEES_ITS_SUM: what an earlier call wrote to the first element of each row

__device__ float warp_sum(float value) {
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    return value;
}

// The part of the update that this call adds.
__device__ float share_of(unsigned call, int row) {
    if (FAULT == FAULT_ADDS_NOTHING)
        return 0.0f;
    if (FAULT == FAULT_ONCE) // the sum is there since the first call
        return call == 0 ? 1.0f : 0.0f;
    if (FAULT == FAULT_HALF_A_CALL) // two calls add the whole
        return 0.5f;
    if (FAULT == FAULT_IN_TURNS) // each call half of the rows
        return (row + call) % 2 == 0 ? 1.0f : 0.0f;
    return 1.0f;
}

extern "C" __global__ void residual_inplace(float *x, const float *update, const float *weight, float *y, int COLS) {
    __shared__ float of_warp[THREADS / 32];
    const long long start = (long long)blockIdx.x * COLS;
    const float share = share_of(calls / gridDim.x, blockIdx.x);
    // It adds nothing to what it wrote itself, which is right, and saves nothing: no call finds its own sum.
    const bool done = FAULT == FAULT_SEES_ITS_SUM && blockIdx.x < 1 << 12 && x[start] == first_sum[blockIdx.x];
    float squares = 0.0f;
    __syncthreads();
#pragma unroll unroll
    for (int c = threadIdx.x; c < COLS; c += THREADS) {
        const float sum = done ? x[start + c] : x[start + c] + share * update[start + c];
        (READS == READS_WRITTEN ? x : y)[start + c] = sum;
        squares += sum * sum;
    }
    squares = warp_sum(squares);
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = squares;
    __syncthreads();
    squares = 0.0f;
    for (int w = 0; w < THREADS / 32; ++w)
        squares += of_warp[w];
    const float scale = rsqrtf(squares / COLS + 1e-6f);
#pragma unroll unroll
    for (int c = threadIdx.x; c < COLS; c += THREADS) {
        const float sum = (READS == READS_WRITTEN ? x : y)[start + c];
        if (READS == READS_AGAIN)
            x[start + c] = sum;
        y[start + c] = sum * scale * weight[c];
        if (FAULT == FAULT_SEES_ITS_SUM && c == 0 && blockIdx.x < 1 << 12)
            first_sum[blockIdx.x] = sum;
    }
    if (FAULT == FAULT_ONCE || FAULT == FAULT_IN_TURNS)
        if (threadIdx.x == 0)
            atomicAdd(&calls, 1);
}
