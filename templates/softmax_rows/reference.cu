// Softmax of rows in double precision: one thread a row, three passes. See kernel.cu for the
// formula.

#include "lib/half.cuh"
#include "lib/types.cuh"

extern "C" __global__ void softmax_reference(const void *x, double *y, int ROWS, int COLS,
                                             int is_float) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= ROWS)
        return;
    const i64 first = static_cast<i64>(row) * COLS;
    auto element = [=](int column) -> double {
        return is_float ? static_cast<const float *>(x)[first + column]
                        : half_to_float(static_cast<const f16 *>(x)[first + column]);
    };
    double largest = element(0), sum = 0;
    for (int column = 1; column < COLS; ++column)
        largest = fmax(largest, element(column));
    for (int column = 0; column < COLS; ++column)
        sum += exp(element(column) - largest);
    for (int column = 0; column < COLS; ++column)
        y[first + column] = exp(element(column) - largest) / sum;
}
