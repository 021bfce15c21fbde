// Sums of rows in double, in the order of the columns.

extern "C" __global__ void row_sums_reference(const float *x, double *sum, double *squares, int COLS) {
    const float *row = x + (long long)blockIdx.x * COLS;
    double own_sum = 0, own_squares = 0;
    for (int column = 0; column < COLS; ++column) {
        own_sum += row[column];
        own_squares += (double)row[column] * row[column];
    }
    sum[blockIdx.x] = own_sum;
    squares[blockIdx.x] = own_squares;
}
