// The sum of N floats in two passes; template.json describes the genes.

// Adds the values of a block's threads; thread 0 has the sum.
template <int threads> __device__ float block_sum(float value) {
    __shared__ float sums[threads];
    const int t = threadIdx.x;
    if constexpr (ORDER == ORDER_SHUFFLE) {
        for (int distance = 16; distance > 0; distance /= 2)
            value += __shfl_down_sync(0xffffffffu, value, distance);
        if (t % 32 == 0)
            sums[t / 32] = value;
        __syncthreads();
        if (t == 0)
            for (int w = 1; w < threads / 32; ++w)
                value += sums[w];
        return value;
    }
    sums[t] = value;
    for (int half = threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half)
            sums[t] += sums[t + half];
    }
    return sums[0];
}

__device__ void load_some(const float *from, float (&values)[VECTOR]) {
    if constexpr (VECTOR == 4) {
        const float4 four = *(const float4 *)from;
        values[0] = four.x, values[1] = four.y, values[2] = four.z, values[3] = four.w;
    } else if constexpr (VECTOR == 2) {
        const float2 two = *(const float2 *)from;
        values[0] = two.x, values[1] = two.y;
    } else {
        values[0] = *from;
    }
}

extern "C" __global__ void sum_partial(const float *x, float *partials, int N) {
    float sums[CHAINS] = {};
    for (int tile = blockIdx.x * THREADS * ITEMS * VECTOR; tile < N; tile += BLOCKS * THREADS * ITEMS * VECTOR) {
#pragma unroll
        for (int item = 0; item < ITEMS; ++item) {
            const int i = tile + (item * THREADS + threadIdx.x) * VECTOR;
            float values[VECTOR] = {};
            if (i + VECTOR <= N)
                load_some(x + i, values);
            else
                for (int v = 0; v < VECTOR; ++v)
                    if (i + v < N)
                        values[v] = x[i + v];
#pragma unroll
            for (int v = 0; v < VECTOR; ++v)
                sums[(item * VECTOR + v) % CHAINS] += values[v];
        }
    }
    for (int c = 1; c < CHAINS; ++c)
        sums[0] += sums[c];
    const float sum = block_sum<THREADS>(sums[0]);
    if (threadIdx.x == 0)
        partials[blockIdx.x] = sum;
}

extern "C" __global__ void sum_final(const float *partials, float *sum) {
    float own = 0.0f;
    for (int i = threadIdx.x; i < BLOCKS; i += FINAL_THREADS)
        own += partials[i];
    own = block_sum<FINAL_THREADS>(own);
    if (threadIdx.x == 0)
        *sum = own;
}
