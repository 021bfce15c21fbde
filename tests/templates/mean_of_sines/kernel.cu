// The mean of sin(x t) over t in [0, 1] by POINTS midpoints; template.json describes the genes.

constexpr int unroll = UNROLL; // nvcc expands no macro in a pragma

extern "C" __global__ void mean_of_sines(const float *x, float *y, int count) {
    constexpr int points = FAULT == FAULT_FEWER ? 4 : POINTS;
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= count)
        return;
    const float step = x[i] / points;
    float sum = 0.0f;
#pragma unroll unroll
    for (int p = 0; p < points - (FAULT == FAULT_LAST); ++p)
        sum += __sinf(step * (p + 0.5f));
    y[i] = sum / points;
}
