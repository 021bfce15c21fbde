// C = A B in tiles of 64 x 64, in double or in float: what the reference and the plain kernel
// share.
#ifndef EVOTILE_GEMM_TILE
#define EVOTILE_GEMM_TILE

#include "lib/tile_product.cuh"
#include "lib/types.cuh"

constexpr int threads = 128, row_threads = 16; // row_threads share a row of the tile
constexpr int tile = 64;                       // the grids in template.json depend on it
constexpr int rows = tile * row_threads / threads, columns = tile / row_threads; // of a thread
constexpr int steps = 16;                                                        // staged at once

template <typename real>
DEVICE void gemm_tile(const float *a, const float *b, real *c, int M, int N, int K) {
    __shared__ alignas(16) real a_smem[steps * tile], b_smem[steps * tile];
    const int tiles_n = ceil_div(N, tile);
    const int first_row = blockIdx.x / tiles_n * tile, first_column = blockIdx.x % tiles_n * tile;
    const int lane = threadIdx.x % row_threads, thread_row = threadIdx.x / row_threads * rows;
    real sums[rows][columns] = {};

    for (int first_k = 0; first_k < K; first_k += steps) {
        __syncthreads(); // the previous step has been read
#pragma unroll
        for (int i = 0; i < steps * tile / threads; ++i) {
            const int n = i * threads + threadIdx.x;
            const int a_row = first_row + n / steps, a_k = first_k + n % steps;
            const int b_k = first_k + n / tile, b_column = first_column + n % tile;
            a_smem[n % steps * tile + n / steps] =
                a_row < M && a_k < K ? a[static_cast<i64>(a_row) * K + a_k] : 0.0f;
            b_smem[n] = b_k < K && b_column < N ? b[static_cast<i64>(b_k) * N + b_column] : 0.0f;
        }
        __syncthreads(); // the operands are staged
        add_product<row_threads, columns>(sums, a_smem + thread_row, tile,
                                          b_smem + tile_column<row_threads, real>(lane, 0), tile,
                                          min(steps, K - first_k));
    }
#pragma unroll
    for (int i = 0; i < rows; ++i)
#pragma unroll
        for (int j = 0; j < columns; ++j) {
            const int row = first_row + thread_row + i;
            const int column = first_column + tile_column<row_threads, real>(lane, j);
            if (row < M && column < N)
                c[static_cast<i64>(row) * N + column] = sums[i][j];
        }
}

#endif
