// z = ALPHA x + y, one number at a time.

extern "C" __global__ void axpy(const float *x, const float *y, float *z, int N, float ALPHA) {
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < N; i += BLOCKS * THREADS)
        z[i] = ALPHA * x[i] + y[i];
}
