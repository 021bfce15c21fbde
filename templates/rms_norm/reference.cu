// RMSNorm of rows: one thread a row.
extern "C" __global__ void rms_norm_reference(const f16 *x, const f16 *weight, real *y, int ROWS, int COLS,
                                              float EPSILON) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    real sum = 0;
    if (row >= ROWS)
        return;
    const f16 *from = x + (long long)row * COLS;
    for (int column = 0; column < COLS; ++column)
        sum += (real)from[column] * (real)from[column];
    const real scale = 1 / sqrt(sum / COLS + EPSILON);
    for (int column = 0; column < COLS; ++column)
        y[(long long)row * COLS + column] = (real)from[column] * scale * (real)weight[column];
}
