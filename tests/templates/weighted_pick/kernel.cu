// Rows of x in a given order, weighted and summed; with numbers from three files, and two that differ from call to call.

#if FAULT == FAULT_FIRST_SHIFT
__device__ int first_shift = -1; // of all calls
#endif

extern "C" __global__ void weighted_pick(const float *x, const int *order, const float *weights,
                                         const unsigned char *codes, const float *table, const int *offsets,
                                         const signed char *signs, const int *bounds, float *y, int ROWS, int COLS,
                                         int SHIFT, float GAIN) {
    __shared__ float sums[THREADS / 32];
    const int row = blockIdx.x;
    const int from = FAULT == FAULT_IDENTITY ? row : order[row];
#if FAULT == FAULT_FIRST_SHIFT
    const int before = atomicCAS(&first_shift, -1, SHIFT);
    SHIFT = before < 0 ? SHIFT : before;
#endif
    float sum = 0.0f;
    for (int i = threadIdx.x; i < COLS; i += THREADS) {
        int at = i + SHIFT % COLS;
        at -= at >= COLS ? COLS : 0;
        const float weight = FAULT == FAULT_UNIFORM_WEIGHTS ? 1.0f / COLS : weights[(long long)from * COLS + i];
        sum += weight * x[(long long)from * COLS + at];
    }
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    for (int w = 1; w < THREADS / 32; ++w)
        sum += sums[w];
    const int code = offsets[codes[row]], below = FAULT == FAULT_EVEN_BOUNDS ? row : bounds[row];
    y[row] = (FAULT == FAULT_NO_GAIN ? 1.0f : GAIN) * sum + signs[code] * table[code] + below * 0.125f;
}
