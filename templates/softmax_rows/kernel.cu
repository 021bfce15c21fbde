// Softmax of rows:  y[r][c] = exp(x[r][c] - max of row r) / sum over the row of the same.
//
//   x, y   [ROWS, COLS]   float if F32, else half
//
// ROW_THREADS neighbouring threads share a row and process it in vectors of VECTOR elements.

#include "lib/math.cuh"
#include "lib/packed.cuh"
#include "lib/row_vectors.cuh"
#include "lib/types.cuh"
#include "lib/warp.cuh"
#include "lib/widen.cuh"

// ---- Genes ----

#if !defined(THREADS) || !defined(ROW_THREADS) || !defined(VECTOR) || !defined(KEEP) ||            \
    !defined(UNROLL)
#error "a gene of softmax_rows is not defined: see genes in template.json"
#endif

constexpr int threads = THREADS;         // threads per block
constexpr int row_threads = ROW_THREADS; // threads that share a row
constexpr int vector = VECTOR;           // elements per load
constexpr int cached_vectors = KEEP; // vectors per thread cached in registers; others are re-read
constexpr int unroll = UNROLL;       // unroll factor of the loops over vectors that are not cached

using element = conditional_t<F32, float, f16>;
using elements = packed<element, vector>;

// ---- Derived sizes and shared memory ----

constexpr int block_rows = threads / row_threads;
constexpr int row_warps = row_threads > 32 ? row_threads / 32 : 1;

static_assert(threads % row_threads == 0 && threads <= 1024, "a block works on whole rows");
static_assert(vector * sizeof(element) <= 16, "a load is at most 16 bytes wide");

// One word per warp: its maximum, and its sum, where a row spans several warps.
__shared__ float partial_smem[2][threads / 32];

// ---- Steps ----

struct float_vector {
    float values[vector];
};

// Loads the vector at `column`; elements outside of the row are minus infinity.
template <bool aligned> DEVICE elements load_x(const element *row_gmem, int column, int COLS) {
    return load_row_vector<vector, false, aligned>(row_gmem, column, COLS,
                                                   narrow<element>(minus_infinity));
}

DEVICE float vector_max(const elements &x) {
    float row_max = widen(x.get(0));
#pragma unroll
    for (int i = 1; i < vector; ++i)
        row_max = fmaxf(row_max, widen(x.get(i)));
    return row_max;
}

// exp(x - largest), element by element.
DEVICE float_vector exp_values(const elements &x, float row_max) {
    float_vector exp_value;
#pragma unroll
    for (int i = 0; i < vector; ++i)
        exp_value.values[i] = exp2_fast((widen(x.get(i)) - row_max) * 1.4426950408889634f);
    return exp_value;
}

DEVICE float vector_sum(const float_vector &x) {
    float row_sum = 0;
#pragma unroll
    for (int i = 0; i < vector; ++i)
        row_sum += x.values[i];
    return row_sum;
}

// All-reduces a value, by max or by sum, over the threads of a row. Each is called once.
template <bool is_max> DEVICE float row_reduce(float value) {
    constexpr int lanes = row_threads < 32 ? row_threads : 32;
    value = is_max ? lanes_max<lanes>(value) : lanes_sum<lanes>(value);
    if constexpr (row_warps > 1) {
        if (threadIdx.x % 32 == 0)
            partial_smem[is_max][threadIdx.x / 32] = value;
        __syncthreads(); // every warp has written its partial result
        const float *row_smem = partial_smem[is_max] + threadIdx.x / row_threads * row_warps;
        value = row_smem[0];
#pragma unroll
        for (int warp = 1; warp < row_warps; ++warp)
            value = is_max ? fmaxf(value, row_smem[warp]) : value + row_smem[warp];
    }
    return value;
}

// ---- The schedule ----

// aligned: COLS is a multiple of the vector, and no vector has elements of two rows.
template <bool aligned>
DEVICE void rows_of_block(const element *__restrict__ x, element *__restrict__ y, int ROWS,
                          int COLS) {
    constexpr int stride =
        row_threads * vector; // columns that the threads of a row process per iteration
    const i64 row = static_cast<i64>(blockIdx.x) * block_rows + threadIdx.x / row_threads;
    const int first_column = first_vector_column<vector, aligned>(row, COLS) +
                             static_cast<int>(threadIdx.x % row_threads) * vector;
    const int end = row < ROWS ? COLS : 0; // surplus threads of the last block process an empty row
    const element *x_gmem = x + row * COLS;
    element *y_gmem = y + row * COLS;
    elements x_rmem[cached_vectors > 0 ? cached_vectors : 1];
    float_vector exp_rmem[cached_vectors > 0 ? cached_vectors : 1];

#pragma unroll
    for (int i = 0; i < cached_vectors; ++i) // all loads are in flight before one is used
        x_rmem[i] = load_x<aligned>(x_gmem, first_column + i * stride, end);
    float row_max = minus_infinity;
#pragma unroll
    for (int i = 0; i < cached_vectors; ++i)
        row_max = fmaxf(row_max, vector_max(x_rmem[i]));
#pragma unroll unroll
    for (int column = first_column + cached_vectors * stride; column < end; column += stride)
        row_max = fmaxf(row_max, vector_max(load_x<aligned>(x_gmem, column, end)));
    row_max = row_reduce<true>(row_max);

    float row_sum = 0;
#pragma unroll
    for (int i = 0; i < cached_vectors; ++i) {
        exp_rmem[i] = exp_values(x_rmem[i], row_max);
        row_sum += vector_sum(exp_rmem[i]);
    }
#pragma unroll unroll
    for (int column = first_column + cached_vectors * stride; column < end; column += stride)
        row_sum += vector_sum(exp_values(load_x<aligned>(x_gmem, column, end), row_max));
    const float inverse = 1.0f / row_reduce<false>(row_sum);

    auto scale_and_store = [&](int column, float_vector exp_value) {
#pragma unroll
        for (int i = 0; i < vector; ++i)
            exp_value.values[i] *= inverse;
        store_row_vector<vector, false, aligned>(y_gmem, column, end,
                                                 elements::rounded(exp_value.values));
    };
#pragma unroll
    for (int i = 0; i < cached_vectors; ++i)
        scale_and_store(first_column + i * stride, exp_rmem[i]);
#pragma unroll unroll
    for (int column = first_column + cached_vectors * stride; column < end; column += stride)
        scale_and_store(column, exp_values(load_x<aligned>(x_gmem, column, end), row_max));
}

extern "C" __global__ void __launch_bounds__(threads)
    softmax_rows(const element *__restrict__ x, element *__restrict__ y, int ROWS, int COLS) {
    if (vector == 1 || COLS % vector == 0)
        rows_of_block<true>(x, y, ROWS, COLS);
    else
        rows_of_block<false>(x, y, ROWS, COLS);
}
