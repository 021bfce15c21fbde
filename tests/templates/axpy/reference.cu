// z = ALPHA x + y in double precision.

extern "C" __global__ void axpy_reference(const float *x, const float *y, double *z, int N, float ALPHA) {
    for (int i = threadIdx.x; i < N; i += blockDim.x)
        z[i] = (double)ALPHA * x[i] + y[i];
}
