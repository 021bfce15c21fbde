// z = ALPHA x + y in float.

extern "C" __global__ void axpy_plain(const float *x, const float *y, float *z, int N, float ALPHA) {
    for (int i = threadIdx.x; i < N; i += blockDim.x)
        z[i] = ALPHA * x[i] + y[i];
}
