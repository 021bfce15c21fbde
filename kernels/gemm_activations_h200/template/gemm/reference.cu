// C = epilogue(A B), a tile of C each block; the problem says what `real` is.

#include "lib/reference_product.cuh"

template <typename element>
__global__ void __launch_bounds__(product_threads, 4)
    gemm_reference(const element *a, const element *b, const element *bias, const element *residual,
                   real *c, int M, int N, int K, int trans_a, int trans_b, int epilogue) {
    const int tiles = product_tiles(M, N);
    const product_tile<real> tile(blockIdx.x % tiles, N);
    const long long batch = blockIdx.x / tiles;
    using operand = product_operand<element>;
    const operand a_of_batch{a + batch * M * K, M, trans_a ? 1 : K, trans_a ? M : 1};
    const operand b_of_batch{b + batch * K * N, N, trans_b ? K : 1, trans_b ? 1 : N};
    real sums[tile.rows][tile.columns] = {};
    tile.add(sums, a_of_batch, b_of_batch, K);
    for (int i = 0; i < tile.rows; ++i)
        for (int j = 0; j < tile.columns; ++j) {
            const int row = tile.row(i), column = tile.column(j);
            if (row >= M || column >= N)
                continue;
            const long long n = (batch * M + row) * N + column;
            real z = sums[i][j];
            if (epilogue == 4)
                z += real(residual[n]);
            else if (epilogue)
                z += real(bias[column]);
            if (epilogue == 2) // 0.79...: sqrt(2 / pi)
                z = z * (1 + tanh(real(0.79788456080286536) * (z + real(0.044715) * z * z * z))) /
                    2;
            else if (epilogue == 3)
                z = z / (1 + exp(-z));
            c[n] = z;
        }
}
