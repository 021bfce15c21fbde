extern "C" __global__ void f(const float *x, float *y, int n) {
    const int t = threadIdx.x;
    float s = 0;
    for (int i = t; i < n; i += THREADS)
        s += x[i];
    for (int i = t; i < n; i += THREADS)
        y[i] = expf(x[i]) / s;
}
