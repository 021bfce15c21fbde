// Residual add and RMS norm of rows: a block has one. The problem says what `real` is.

#include "lib/block_tree.cuh"

constexpr int threads = 128;

extern "C" __global__ void add_rms_norm_reference(const void *before, real *x, const void *residual,
                                                  const void *weight, real *y, int COLS,
                                                  float EPSILON, int is_bfloat) {
    const long long start = (long long)blockIdx.x * COLS;
    auto element = [=](const void *from, long long n) -> real {
        return is_bfloat ? real(static_cast<const bf16 *>(from)[n])
                         : real(static_cast<const f16 *>(from)[n]);
    };
    real squares = 0;
    for (int c = threadIdx.x; c < COLS; c += threads) {
        const real sum = element(before, start + c) + element(residual, start + c);
        x[start + c] = sum;
        squares += sum * sum;
    }
    squares = block_tree_sum<threads>(squares);
    const real scale = 1 / sqrt(squares / COLS + real(EPSILON));
    for (int c = threadIdx.x; c < COLS; c += threads)
        y[start + c] = x[start + c] * scale * element(weight, c);
}
