// The sum of N floats in float: a chain for each of 256 threads, then a tree.

extern "C" __global__ void sum_plain(const float *x, float *sum, int N) {
    __shared__ float sums[256];
    const int t = threadIdx.x;
    float own = 0.0f;
    for (int i = t; i < N; i += 256)
        own += x[i];
    sums[t] = own;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (t < half)
            sums[t] += sums[t + half];
    }
    if (t == 0)
        *sum = sums[0];
}
