// The sum of N floats in float: in each of 1024 threads sums of 1024 numbers, which are added up,
// then a tree. One long sum instead would round too much: of equal numbers it stops to grow.

constexpr int threads = 1024, chain = 1024;

extern "C" __global__ void sum_plain(const float *x, float *sum, int N) {
    __shared__ float sums[threads];
    const int t = threadIdx.x;
    float own = 0.0f;
    for (long long first = t; first < N; first += threads * chain) {
        float chain_sum = 0.0f;
        for (int i = 0; i < chain && first + i * threads < N; ++i)
            chain_sum += x[first + i * threads];
        own += chain_sum;
    }
    sums[t] = own;
    for (int half = threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half)
            sums[t] += sums[t + half];
    }
    if (t == 0)
        *sum = sums[0];
}
