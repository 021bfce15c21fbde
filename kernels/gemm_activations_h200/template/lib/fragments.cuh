// MMA operand fragments (lib/mma.cuh), loaded by one warp from tiles in shared memory
// (lib/tile.cuh) or from a matrix in global memory; and accumulator conversions. `step` counts
// groups of 16 columns.
#ifndef EVOTILE_LIB_FRAGMENTS
#define EVOTILE_LIB_FRAGMENTS

#include "lib/half.cuh"
#include "lib/integer.cuh"
#include "lib/ldmatrix.cuh"
#include "lib/types.cuh"

// A operand: 16 rows of the tile from first_row on, the 16 columns of `step`.
template <typename tile> DEVICE void load_a(u32 (&a)[4], u32 tile_smem, int first_row, int step) {
    const int lane = threadIdx.x % 32;
    ldmatrix_x4(a, tile_smem + tile::offset(first_row + lane % 16, step * 2 + lane / 16));
}

// The same from a matrix in global memory whose row stride is `stride` elements; rows at or past
// row_end are zeros and are not read.
template <typename element>
DEVICE void load_a_gmem(u32 (&a)[4], const element *matrix_gmem, int stride, int first_row,
                        int row_end, int step) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int row = first_row + lane / 4 + i % 2 * 8;
        const element *pair_gmem =
            matrix_gmem + lane % 4 * 2 + multiply_wide(row, stride) + (step * 16 + i / 2 * 8);
        a[i] = row < row_end ? *reinterpret_cast<const u32 *>(pair_gmem) : 0;
    }
}

// The same where rows 8 to 15 of the operand are of another matrix: 8 rows from first_row on of
// each.
template <typename element>
DEVICE void load_a_gmem(u32 (&a)[4], const element *const (&matrices_gmem)[2], int stride,
                        int first_row, int row_end, int step) {
    const int lane = threadIdx.x % 32, row = first_row + lane / 4;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const element *pair_gmem = matrices_gmem[i % 2] + lane % 4 * 2 +
                                   multiply_wide(row, stride) + (step * 16 + i / 2 * 8);
        a[i] = row < row_end ? *reinterpret_cast<const u32 *>(pair_gmem) : 0;
    }
}

// B operand of a product with the transposed tile: b[0], b[1] belong to its 8 rows from first_row
// on, b[2], b[3] to the next 8; the 16 columns of `step`.
template <typename tile>
DEVICE void load_b_transposed(u32 (&b)[4], u32 tile_smem, int first_row, int step) {
    const int lane = threadIdx.x % 32;
    ldmatrix_x4(b, tile_smem +
                       tile::offset(first_row + lane / 16 * 8 + lane % 8, step * 2 + lane / 8 % 2));
}

// B operand of a product with the tile itself: 16 rows from first_row on; b[0], b[1] belong to the
// first 8 columns of `step`, b[2], b[3] to the other 8.
template <typename tile> DEVICE void load_b(u32 (&b)[4], u32 tile_smem, int first_row, int step) {
    const int lane = threadIdx.x % 32;
    ldmatrix_x4_trans(b, tile_smem + tile::offset(first_row + lane % 16, step * 2 + lane / 16));
}

// Converts accumulators, float or half, to floats.
template <int m, int n> DEVICE void to_floats(float (&to)[m][n][4], const float (&from)[m][n][4]) {
#pragma unroll
    for (int i = 0; i < m * n * 4; ++i)
        to[i / 4 / n][i / 4 % n][i % 4] = from[i / 4 / n][i / 4 % n][i % 4];
}

template <int m, int n> DEVICE void to_floats(float (&to)[m][n][4], const u32 (&from)[m][n][2]) {
#pragma unroll
    for (int i = 0; i < m * n * 4; ++i) {
        const u32 pair = from[i / 4 / n][i / 4 % n][i % 4 / 2];
        to[i / 4 / n][i / 4 % n][i % 4] =
            i % 2 ? high_half_to_float(pair) : low_half_to_float(pair);
    }
}

// Multiplies row g of an accumulator by by[0], and row g + 8 by by[1].
DEVICE void scale_rows(float (&d)[4], const float (&by)[2]) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
        d[i] *= by[i / 2];
}

DEVICE void scale_rows(u32 (&d)[2], const float (&by)[2]) {
#pragma unroll
    for (int i = 0; i < 2; ++i)
        d[i] = multiply_half2(d[i], pack_half2(by[i], by[i]));
}

#endif
