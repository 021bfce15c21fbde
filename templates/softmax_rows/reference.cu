// Softmax of rows in double precision: one thread per row, three passes. The formula is in
// kernel.cu.

#include "lib/half.cuh"
#include "lib/types.cuh"

extern "C" __global__ void softmax_reference(const void *x, double *y, int ROWS, int COLS,
                                             int is_float) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= ROWS)
        return;
    const i64 row_start = static_cast<i64>(row) * COLS;
    auto element = [=](int column) -> double {
        return is_float ? static_cast<const float *>(x)[row_start + column]
                        : half_to_float(static_cast<const f16 *>(x)[row_start + column]);
    };
    double row_max = element(0), row_sum = 0;
    for (int column = 1; column < COLS; ++column)
        row_max = fmax(row_max, element(column));
    for (int column = 0; column < COLS; ++column)
        row_sum += exp(element(column) - row_max);
    for (int column = 0; column < COLS; ++column)
        y[row_start + column] = exp(element(column) - row_max) / row_sum;
}
