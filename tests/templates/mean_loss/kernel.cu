// The mean cross entropy of SAMPLES rows of CLASSES logits; template.json describes the genes.

constexpr int unroll = UNROLL; // nvcc expands no macro in a pragma

extern "C" __global__ void clear_loss(float *loss) {
    *loss = 0.0f;
}

__device__ float exponential(float x) {
    return EXP == EXP_FAST ? __expf(x) : expf(x);
}

__device__ float logarithm(float x) {
    return EXP == EXP_FAST ? __logf(x) : logf(x);
}

// log(sum(exp(row))) - row[label]
__device__ float sample_loss(const float *row, int label, int classes) {
    float largest = row[0], sum = 0.0f;
#pragma unroll unroll
    for (int c = 1; c < classes; ++c)
        largest = fmaxf(largest, row[c]);
#pragma unroll unroll
    for (int c = 0; c < classes; ++c)
        sum += exponential(row[c] - largest);
    return logarithm(sum) + (largest - row[label]);
}

__device__ float warp_sum(float value) {
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_down_sync(0xffffffffu, value, distance);
    return value;
}

__device__ void add(float *loss, float value, int samples) {
    atomicAdd(loss, SCALE == SCALE_LAST ? value / samples : value);
}

extern "C" __global__ void mean_loss(const float *logits, const unsigned *labels, float *loss, int SAMPLES,
                                     int CLASSES) {
    __shared__ float of_warp[THREADS / 32];
    float sums[CHAINS] = {};
    const int step = BLOCKS * THREADS * ITEMS;
    for (int first = (blockIdx.x * THREADS + threadIdx.x) * ITEMS; first < SAMPLES; first += step)
        for (int item = 0; item < ITEMS; ++item) {
            const int i = first + item;
            if (i < SAMPLES) {
                float one = sample_loss(logits + (long long)i * CLASSES, labels[i] % CLASSES, CLASSES);
                one = SCALE == SCALE_FIRST ? one / SAMPLES : one;
                if constexpr (ADDS == ADDS_SAMPLE)
                    add(loss, one, SAMPLES);
                else
                    sums[item % CHAINS] += one;
            }
        }
    if constexpr (ADDS == ADDS_SAMPLE)
        return;
    for (int c = 1; c < CHAINS; ++c)
        sums[0] += sums[c];
    if constexpr (ADDS == ADDS_THREAD) {
        add(loss, sums[0], SAMPLES);
        return;
    }
    float sum = warp_sum(sums[0]);
    if constexpr (ADDS == ADDS_BLOCK) {
        if (threadIdx.x % 32 == 0)
            of_warp[threadIdx.x / 32] = sum;
        __syncthreads();
        for (int w = 1; w < THREADS / 32; ++w)
            sum += of_warp[w];
    }
    if (threadIdx.x % (ADDS == ADDS_BLOCK ? THREADS : 32) == 0)
        add(loss, sum, SAMPLES);
}
