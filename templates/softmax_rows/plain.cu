// Softmax of rows in float arithmetic without optimisations, one thread per row, with the GPU's own
// __expf. Its error against the reference sets the error bound for all candidates.

#include "lib/half.cuh"
#include "lib/types.cuh"

extern "C" __global__ void softmax_plain(const void *x, void *y, int ROWS, int COLS, int is_float) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= ROWS)
        return;
    const i64 row_start = static_cast<i64>(row) * COLS;
    auto element = [=](int column) -> float {
        return is_float ? static_cast<const float *>(x)[row_start + column]
                        : half_to_float(static_cast<const f16 *>(x)[row_start + column]);
    };
    float row_max = element(0), row_sum = 0;
    for (int column = 1; column < COLS; ++column)
        row_max = fmaxf(row_max, element(column));
    for (int column = 0; column < COLS; ++column)
        row_sum += __expf(element(column) - row_max);
    for (int column = 0; column < COLS; ++column) {
        const float probability = __expf(element(column) - row_max) / row_sum;
        if (is_float)
            static_cast<float *>(y)[row_start + column] = probability;
        else
            static_cast<f16 *>(y)[row_start + column] = float_to_half(probability);
    }
}
