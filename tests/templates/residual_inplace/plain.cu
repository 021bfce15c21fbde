// x = before + update; y = x / rms(x) * weight in float, a warp a row.

extern "C" __global__ void residual_plain(const float *before, float *x, const float *update, const float *weight, float *y,
                                          int COLS) {
    const long long start = (long long)blockIdx.x * COLS;
    float squares = 0.0f;
    for (int c = threadIdx.x; c < COLS; c += 32) {
        const float sum = before[start + c] + update[start + c];
        x[start + c] = sum;
        squares += sum * sum;
    }
    for (int distance = 16; distance > 0; distance /= 2)
        squares += __shfl_xor_sync(0xffffffffu, squares, distance);
    const float scale = rsqrtf(squares / COLS + 1e-6f);
    for (int c = threadIdx.x; c < COLS; c += 32)
        y[start + c] = x[start + c] * scale * weight[c];
}
