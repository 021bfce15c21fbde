// C = A B, a tile of C each block; the problem says what `real` is.

#include "lib/reference_product.cuh"

extern "C" __global__ void gemm_reference(const float *a, const float *b, real *c, int M, int N,
                                          int K) {
    const product_tile<real> tile(blockIdx.x, N);
    using operand = product_operand<float>;
    real sums[tile.rows][tile.columns] = {};
    tile.add(sums, operand{a, M, K, 1}, operand{b, N, 1, N}, K);
    for (int i = 0; i < tile.rows; ++i)
        for (int j = 0; j < tile.columns; ++j)
            if (tile.row(i) < M && tile.column(j) < N)
                c[tile.row(i) * (long long)N + tile.column(j)] = sums[i][j];
}
