// All steps in float; one block computes a rod in shared memory.

extern "C" __global__ void heat_steps_plain(const float *x, float *y, int points, int steps) {
    extern __shared__ float rod[];
    float *now = rod, *next = rod + points;
    const long long row = (long long)blockIdx.x * points;
    for (int i = threadIdx.x; i < points; i += blockDim.x)
        now[i] = x[row + i];
    __syncthreads();
    for (int step = 0; step < steps; ++step) {
        for (int i = threadIdx.x; i < points; i += blockDim.x)
            next[i] = i == 0 || i == points - 1
                          ? now[i]
                          : now[i] + 0.25f * (now[i - 1] - 2.0f * now[i] + now[i + 1]);
        __syncthreads();
        float *const before = now;
        now = next;
        next = before;
    }
    for (int i = threadIdx.x; i < points; i += blockDim.x)
        y[row + i] = now[i];
}
