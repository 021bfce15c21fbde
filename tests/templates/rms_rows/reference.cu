// One thread computes a row.
extern "C" __global__ void rms_rows_reference(const f16 *x, const float *weight, real *y, int rows, int cols,
                                              float epsilon) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    real sum = 0;
    if (row >= rows)
        return;
    for (int i = 0; i < cols; i++)
        sum += x[(long long)row * cols + i] * x[(long long)row * cols + i];
    const real scale = 1 / sqrt(sum / cols + epsilon);
    for (int i = 0; i < cols; i++)
        y[(long long)row * cols + i] = x[(long long)row * cols + i] * scale * weight[i];
}
