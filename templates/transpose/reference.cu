// The transpose of a matrix; a block writes a row of y. The problem says what `real` is.
extern "C" __global__ void transpose_reference(const void *x, real *y, int ROWS, int COLS,
                                               int is_float) {
    const long long column = blockIdx.x;
    for (int row = threadIdx.x; row < ROWS; row += blockDim.x) {
        const long long n = static_cast<long long>(row) * COLS + column;
        y[column * ROWS + row] = is_float ? real(static_cast<const float *>(x)[n])
                                          : real(static_cast<const f16 *>(x)[n]);
    }
}
