// A sparse matrix times a vector, a thread for each row, in float.

extern "C" __global__ void csr_product_plain(const int *row_start, const int *columns, const float *values,
                                       const float *x, float *y, int ROWS) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= ROWS)
        return;
    float sum = 0;
    for (int i = row_start[row]; i < row_start[row + 1]; ++i)
        sum += (float)values[i] * x[columns[i]];
    y[row] = sum;
}
