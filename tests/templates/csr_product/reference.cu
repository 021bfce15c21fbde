// A sparse matrix times a vector, a thread for each row, in double precision.

extern "C" __global__ void csr_product_reference(const int *row_start, const int *columns, const float *values,
                                       const float *x, double *y, int ROWS) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= ROWS)
        return;
    double sum = 0;
    for (int i = row_start[row]; i < row_start[row + 1]; ++i)
        sum += (double)values[i] * x[columns[i]];
    y[row] = sum;
}
