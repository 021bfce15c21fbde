// A sparse matrix times a vector in double precision, a warp each row, and the sums of the absolute
// terms.

extern "C" __global__ void spmv_reference(const int *row_start, const int *columns,
                                          const float *values, const float *x, double *y,
                                          double *y_magnitude) {
    const int row = blockIdx.x, lane = threadIdx.x;
    double sum = 0, magnitude = 0;
    for (int i = row_start[row] + lane; i < row_start[row + 1]; i += 32) {
        const double term = (double)values[i] * x[columns[i]];
        sum += term;
        magnitude += fabs(term);
    }
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
        magnitude += __shfl_xor_sync(0xffffffffu, magnitude, step);
    }
    if (lane == 0) {
        y[row] = sum;
        y_magnitude[row] = magnitude;
    }
}
