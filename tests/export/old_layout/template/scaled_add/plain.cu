// c = 2 a + b + BIAS in float.

extern "C" __global__ void scaled_add_plain(const float *a, const float *b, float *c, int ROWS, int COLS, int bias) {
    for (int i = threadIdx.x; i < ROWS * COLS; i += blockDim.x)
        c[i] = 2.0f * a[i] + b[i] + bias;
}
