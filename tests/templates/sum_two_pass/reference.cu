// The sum of N floats in double precision, and the sum of their absolute values: what rounding can do to the sum is a
// small multiple of that.

extern "C" __global__ void sum_reference(const float *x, double *sum, double *sum_magnitude, int N) {
    __shared__ double sums[256], magnitudes[256];
    const int t = threadIdx.x;
    double own = 0.0, own_magnitude = 0.0;
    for (int i = t; i < N; i += 256) {
        own += x[i];
        own_magnitude += fabs((double)x[i]);
    }
    sums[t] = own;
    magnitudes[t] = own_magnitude;
    for (int half = 128; half > 0; half /= 2) {
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
