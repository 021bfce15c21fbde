// z = ALPHA x + y. BLOCKS blocks of THREADS threads.
// EVOLVE-BLOCK-START
extern "C" __global__ void axpy(const float *x, const float *y, float *z, int N, float ALPHA) {
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < N; i += BLOCKS * THREADS)
        z[i] = ALPHA * x[i] + y[i];
}
// EVOLVE-BLOCK-END
