// reference.cu: what gemm computes, in double precision. Exported by evotile from
// the template's reference.cu with its includes inlined. Generated: do not edit.
//
// check.c compares large shapes with it, and compares it with reference.c.

typedef double real;
// What a reference in the type `real` finds before its source: the floating dtypes of tensors that are not C's own, as
// types that convert to `real`. Also compiled by a C++ compiler for the host, for an exported check.

__device__ inline real evotile_from_half(unsigned bits) {
    float magnitude = __uint_as_float((bits & 0x7fffu) << 13) * 0x1p112f;
    if ((bits & 0x7c00u) == 0x7c00u)
        magnitude = __uint_as_float(0x7f800000u | (bits & 0x3ffu) << 13);
    return bits & 0x8000u ? -magnitude : magnitude;
}

struct f16 {
    unsigned short bits;
    __device__ operator real() const { return evotile_from_half(bits); }
};

struct bf16 {
    unsigned short bits;
    __device__ operator real() const { return __uint_as_float((unsigned)bits << 16); }
};

// It has one NaN of each sign and no infinity.
struct f8_e4m3 {
    unsigned char bits;
    __device__ operator real() const {
        float magnitude = __uint_as_float((bits & 0x7fu) << 20) * 0x1p120f;
        if ((bits & 0x7fu) == 0x7fu)
            magnitude = __uint_as_float(0x7fffffffu);
        return bits & 0x80u ? -magnitude : magnitude;
    }
};

struct f8_e5m2 {
    unsigned char bits;
    __device__ operator real() const { return evotile_from_half((unsigned)bits << 8); }
};

#line 1 "reference.cu"
// C = epilogue(A B), a tile of C each block; the problem says what `real` is.

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

#ifndef __CUDACC_RTC__
// nvcc compiles kernels that are C++ templates only where host code names them.
const void *evotile_kernel(int index) {
    const void *const kernels[] = {(const void *)(gemm_reference<f16>), (const void *)(gemm_reference<bf16>)};
    return kernels[index];
}
#endif
