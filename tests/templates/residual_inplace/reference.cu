// x = before + update; y = x / rms(x) * weight in double precision, a warp a row.

extern "C" __global__ void residual_reference(const float *before, double *x, const float *update, const float *weight,
                                              double *y, int COLS) {
    const long long start = (long long)blockIdx.x * COLS;
    double squares = 0.0;
    for (int c = threadIdx.x; c < COLS; c += 32) {
        const double sum = (double)before[start + c] + update[start + c];
        x[start + c] = sum;
        squares += sum * sum;
    }
    for (int distance = 16; distance > 0; distance /= 2)
        squares += __shfl_xor_sync(0xffffffffu, squares, distance);
    const double scale = 1.0 / sqrt(squares / COLS + 1e-6);
    for (int c = threadIdx.x; c < COLS; c += 32)
        y[start + c] = x[start + c] * scale * weight[c];
}
