// Layer norm of rows: a block has one. The problem says what `real` is.

#include "lib/block_tree.cuh"

constexpr int threads = 128;

extern "C" __global__ void layer_norm_reference(const void *x, const void *weight, const void *bias,
                                                real *y, int COLS, float EPSILON, int is_float) {
    const long long start = (long long)blockIdx.x * COLS;
    auto element = [=](const void *from, long long n) -> real {
        return is_float ? real(static_cast<const float *>(from)[n])
                        : real(static_cast<const bf16 *>(from)[n]);
    };
    real sum = 0, squares = 0;
    for (int c = threadIdx.x; c < COLS; c += threads)
        sum += element(x, start + c);
    const real mean = block_tree_sum<threads>(sum) / COLS;
    for (int c = threadIdx.x; c < COLS; c += threads) {
        const real deviation = element(x, start + c) - mean;
        squares += deviation * deviation;
    }
    const real scale = 1 / sqrt(block_tree_sum<threads>(squares) / COLS + real(EPSILON));
    for (int c = threadIdx.x; c < COLS; c += threads)
        y[start + c] =
            (element(x, start + c) - mean) * scale * element(weight, c) + element(bias, c);
}
