// Products of two tiles in shared memory by plain fused multiply-adds, in float or in double: for
// references, and for kernels without tensor cores. It needs no other file, so that a reference in
// the type `real`, which has types of its own for stored elements, can include it.
//
// Both operands are stored step by step: `a` has a row of M elements for each step of the sum, `b`
// a row of N, so that C[m][n] = sum over k of a[k][m] * b[k][n]. A thread sums a register tile of
// C: neighbouring rows, and columns in vectors of 16 bytes, which the threads of a tile row take in
// turn, so that their loads of `b` are free of bank conflicts.
//
//     real sums[8][4] = {};                           // 8 rows, 4 columns of 16 threads * 4
//     add_product<16, 4>(sums, a_smem + first_row, M, b_smem + tile_column<16, real>(thread, 0), N,
//     8);
//     ... sums[i][j] is C[first_row + i][tile_column<16, real>(thread, j)]
#ifndef EVOTILE_LIB_TILE_PRODUCT
#define EVOTILE_LIB_TILE_PRODUCT

// Elements of a 16-byte vector.
template <typename real> constexpr int vector_width = 16 / static_cast<int>(sizeof(real));

template <typename real, int count> struct alignas(count * sizeof(real)) real_vector {
    real values[count];
};

// The column of the tile that is a thread's j-th, if `threads` threads share a row of the tile.
template <int threads, typename real>
__device__ __forceinline__ int tile_column(int thread, int j) {
    constexpr int width = vector_width<real>;
    return (j / width * threads + thread) * width + j % width;
}

// Adds `steps` steps of the product to the first `used` columns of the thread's sums. `a_smem` is
// the thread's first row at the first step, `b_smem` its first column; both are aligned to 16
// bytes, or `a_smem` to `rows` elements if that is less. Pitches are in elements.
template <int threads, int used, typename real, int rows, int columns>
__device__ __forceinline__ void add_product(real (&sums)[rows][columns], const real *a_smem,
                                            int a_pitch, const real *b_smem, int b_pitch,
                                            int steps) {
    constexpr int b_width = vector_width<real>, a_width = rows < b_width ? rows : b_width;
    static_assert(used <= columns && used % b_width == 0 && rows % a_width == 0, "whole vectors");
#pragma unroll 2
    for (int k = 0; k < steps; ++k) {
        real_vector<real, a_width> a[rows / a_width];
        real_vector<real, b_width> b[used / b_width];
#pragma unroll
        for (int i = 0; i < rows / a_width; ++i)
            a[i] = reinterpret_cast<const real_vector<real, a_width> *>(a_smem + k * a_pitch)[i];
#pragma unroll
        for (int j = 0; j < used / b_width; ++j)
            b[j] = reinterpret_cast<const real_vector<real, b_width> *>(b_smem +
                                                                        k * b_pitch)[j * threads];
#pragma unroll
        for (int i = 0; i < rows; ++i)
#pragma unroll
            for (int j = 0; j < used; ++j)
                sums[i][j] +=
                    a[i / a_width].values[i % a_width] * b[j / b_width].values[j % b_width];
    }
}

#endif
