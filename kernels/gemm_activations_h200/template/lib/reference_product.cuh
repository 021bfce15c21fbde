// C = A B for references, in float or in double: a tile of C each block, by products of tiles in
// shared memory. Elements are converted to the type of the sums once a tile, not once a product. A
// sum adds its products one after the other, from k = 0 on.
//
//     const product_tile<real> tile(blockIdx.x, N); // of product_tiles(M, N)
//     real sums[tile.rows][tile.columns] = {};
//     using operand = product_operand<float>;
//     tile.add(sums, operand{a, M, K, 1}, operand{b, N, 1, N}, K);
//     ... sums[i][j] is C[tile.row(i)][tile.column(j)], which may lie outside
#ifndef EVOTILE_LIB_REFERENCE_PRODUCT
#define EVOTILE_LIB_REFERENCE_PRODUCT

#include "lib/tile_product.cuh"

constexpr int product_threads = 128;                   // of a block
constexpr int product_rows = 32, product_columns = 64; // of a tile of C
constexpr int product_steps = 16;                      // of the sums in shared memory at once

__device__ inline int product_tiles(int M, int N) {
    return (M + product_rows - 1) / product_rows * ((N + product_columns - 1) / product_columns);
}

// A, or B with its columns as rows: element k of row i is gmem[i * row_stride + k * k_stride]. One
// of the strides is 1.
template <typename element> struct product_operand {
    const element *gmem;
    int rows;
    long long row_stride, k_stride;
};

// A thread's share of some steps of `width` rows of an operand: loaded, then stored step by step.
// Neighbouring threads have neighbouring elements.
template <int width, typename element> struct product_share {
    static constexpr int count = width * product_steps / product_threads;
    product_operand<element> from;
    int row, step;   // of the first element
    int rows, steps; // from one element to the next
    element elements[count];

    __device__ product_share(const product_operand<element> &operand, int first_row)
        : from(operand) {
        const bool along_k = operand.k_stride == 1;
        row = along_k ? threadIdx.x / product_steps : threadIdx.x % width;
        step = along_k ? threadIdx.x % product_steps : threadIdx.x / width;
        rows = along_k ? product_threads / product_steps : 0;
        steps = along_k ? 0 : product_threads / width;
        from.gmem += first_row * operand.row_stride;
        from.rows -= first_row;
    }

    // Zeros outside of the operand, whose rows have K elements.
    __device__ void load(int k, int K) {
        const element *gmem = from.gmem + row * from.row_stride + (k + step) * from.k_stride;
        const long long stride = rows * from.row_stride + steps * from.k_stride;
#pragma unroll
        for (int i = 0; i < count; ++i)
            elements[i] = row + i * rows < from.rows && k + step + i * steps < K ? gmem[i * stride]
                                                                                 : element{};
    }

    template <typename real> __device__ void store(real *smem, int pitch) const {
        smem += step * pitch + row;
#pragma unroll
        for (int i = 0; i < count; ++i)
            smem[i * (steps * pitch + rows)] = real(elements[i]);
    }
};

template <typename real> struct product_tile {
    static constexpr int row_threads = 16; // share a row of the tile
    static constexpr int rows = product_rows * row_threads / product_threads; // of a thread
    static constexpr int columns = product_columns / row_threads;
    // Steps in shared memory are aligned to vectors, and begin in different banks.
    static constexpr int a_pitch = product_rows + vector_width<real>;
    static constexpr int b_pitch = product_columns + vector_width<real>;

    int first_row, first_column;

    __device__ product_tile(int tile, int N) {
        const int tiles_n = (N + product_columns - 1) / product_columns;
        first_row = tile / tiles_n * product_rows;
        first_column = tile % tiles_n * product_columns;
    }

    __device__ int row(int i) const {
        return first_row + threadIdx.x / row_threads * rows + i;
    }

    __device__ int column(int j) const {
        return first_column + tile_column<row_threads, real>(threadIdx.x % row_threads, j);
    }

    // Adds K products to each of the thread's sums. All threads of the block take part.
    template <typename element>
    __device__ void add(real (&sums)[rows][columns], const product_operand<element> &a,
                        const product_operand<element> &b, int K) const {
        __shared__ alignas(16) real a_smem[product_steps * a_pitch];
        __shared__ alignas(16) real b_smem[product_steps * b_pitch];
        product_share<product_rows, element> a_share(a, first_row);
        product_share<product_columns, element> b_share(b, first_column);
        a_share.load(0, K);
        b_share.load(0, K);
        for (int k = 0; k < K; k += product_steps) {
            a_share.store(a_smem, a_pitch);
            b_share.store(b_smem, b_pitch);
            __syncthreads();                    // the steps are stored
            a_share.load(k + product_steps, K); // the next ones, meanwhile
            b_share.load(k + product_steps, K);
            add_product<row_threads, columns>(sums, a_smem + row(0) - first_row, a_pitch,
                                              b_smem + column(0) - first_column, b_pitch,
                                              min(product_steps, K - k));
            __syncthreads(); // and have been read
        }
    }
};

#endif
