// Softmax of rows with float arithmetic, as plainly as it can be written: one thread a row. The
// exponential is the GPU's own float one. Its error against the reference is the measure of
// everybody's.

#include "lib/half.cuh"
#include "lib/types.cuh"

extern "C" __global__ void softmax_plain(const void *x, void *y, int ROWS, int COLS,
                                         int is_float) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= ROWS)
        return;
    const i64 first = static_cast<i64>(row) * COLS;
    auto element = [=](int column) -> float {
        return is_float ? static_cast<const float *>(x)[first + column]
                        : half_to_float(static_cast<const f16 *>(x)[first + column]);
    };
    float largest = element(0), sum = 0;
    for (int column = 1; column < COLS; ++column)
        largest = fmaxf(largest, element(column));
    for (int column = 0; column < COLS; ++column)
        sum += __expf(element(column) - largest);
    for (int column = 0; column < COLS; ++column) {
        const float weight = __expf(element(column) - largest) / sum;
        if (is_float)
            static_cast<float *>(y)[first + column] = weight;
        else
            static_cast<f16 *>(y)[first + column] = float_to_half(weight);
    }
}
