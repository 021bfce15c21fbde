// The sum of N floats in double precision, and the sum of their absolute values: what rounding can
// do to the sum is a small multiple of that. One block, whose threads read 8 numbers at a time,
// because nothing else hides how long memory takes.

constexpr int threads = 1024, batch = 8;

extern "C" __global__ void sum_reference(const float *x, double *sum, double *sum_magnitude,
                                         int N) {
    __shared__ double sums[threads], magnitudes[threads];
    const int t = threadIdx.x;
    double own = 0.0, own_magnitude = 0.0;
    for (long long first = t; first < N; first += threads * batch)
#pragma unroll
        for (int i = 0; i < batch; ++i) {
            const long long n = first + i * threads;
            const double value = n < N ? x[n] : 0.0f;
            own += value;
            own_magnitude += fabs(value);
        }
    sums[t] = own;
    magnitudes[t] = own_magnitude;
    for (int half = threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) {
            sums[t] += sums[t + half];
            magnitudes[t] += magnitudes[t + half];
        }
    }
    if (t == 0) {
        *sum = sums[0];
        *sum_magnitude = magnitudes[0];
    }
}
