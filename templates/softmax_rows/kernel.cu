// Softmax of rows:  y[r][c] = exp(x[r][c] - max of row r) / sum over the row of the same.
//
//   x, y   [ROWS, COLS]   float if F32, else half
//
// ROW_THREADS neighbouring threads share a row and process it in vectors of VECTOR elements.

#include "lib/half.cuh"
#include "lib/math.cuh"
#include "lib/types.cuh"
#include "lib/warp.cuh"

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

// ---- Derived sizes and shared memory ----

constexpr int block_rows = threads / row_threads;
constexpr int row_warps = row_threads > 32 ? row_threads / 32 : 1;

static_assert(threads % row_threads == 0 && threads <= 1024, "a block works on whole rows");
static_assert(vector * sizeof(element) <= 16, "a load is at most 16 bytes wide");

// One word per warp: partial reductions, where a row spans several warps.
__shared__ float partial_smem[threads / 32];

// ---- Steps ----

struct alignas(vector * sizeof(element)) packed_vector {
    element values[vector];
};

struct float_vector {
    float values[vector];
};

DEVICE float widen(f16 value) {
    return half_to_float(value);
}

DEVICE float widen(float value) {
    return value;
}

DEVICE void narrow(f16 &to, float value) {
    to = float_to_half(value);
}

DEVICE void narrow(float &to, float value) {
    to = value;
}

// Loads the vector at `column`, by one load if the rows are aligned; elements past the end of the
// row are minus infinity.
DEVICE float_vector load_x(const element *row_gmem, int column, int COLS) {
    float_vector x;
    if (COLS % vector == 0 && column < COLS) {
        const packed_vector loaded = *reinterpret_cast<const packed_vector *>(row_gmem + column);
#pragma unroll
        for (int i = 0; i < vector; ++i)
            x.values[i] = widen(loaded.values[i]);
    } else {
#pragma unroll
        for (int i = 0; i < vector; ++i)
            x.values[i] = column + i < COLS ? widen(row_gmem[column + i]) : minus_infinity;
    }
    return x;
}

DEVICE void store_y(element *row_gmem, int column, int COLS, const float_vector &y) {
    packed_vector packed;
#pragma unroll
    for (int i = 0; i < vector; ++i)
        narrow(packed.values[i], y.values[i]);
    if (COLS % vector == 0 && column < COLS) {
        *reinterpret_cast<packed_vector *>(row_gmem + column) = packed;
        return;
    }
#pragma unroll
    for (int i = 0; i < vector; ++i)
        if (column + i < COLS)
            row_gmem[column + i] = packed.values[i];
}

DEVICE float vector_max(const float_vector &x) {
    float row_max = x.values[0];
#pragma unroll
    for (int i = 1; i < vector; ++i)
        row_max = fmaxf(row_max, x.values[i]);
    return row_max;
}

// exp(x - largest), element by element.
DEVICE float_vector exp_values(const float_vector &x, float row_max) {
    float_vector exp_value;
#pragma unroll
    for (int i = 0; i < vector; ++i)
        exp_value.values[i] = exp2_fast((x.values[i] - row_max) * 1.4426950408889634f);
    return exp_value;
}

DEVICE float vector_sum(const float_vector &x) {
    float row_sum = 0;
#pragma unroll
    for (int i = 0; i < vector; ++i)
        row_sum += x.values[i];
    return row_sum;
}

// All-reduces a value, by max or by sum, over the threads of a row.
template <bool is_max> DEVICE float row_reduce(float value) {
    constexpr int lanes = row_threads < 32 ? row_threads : 32;
    value = is_max ? lanes_max<lanes>(value) : lanes_sum<lanes>(value);
    if constexpr (row_warps > 1) {
        __syncthreads(); // the previous partial results have been read
        if (threadIdx.x % 32 == 0)
            partial_smem[threadIdx.x / 32] = value;
        __syncthreads(); // every warp has written its partial result
        const float *row_smem = partial_smem + threadIdx.x / row_threads * row_warps;
        value = row_smem[0];
#pragma unroll
        for (int warp = 1; warp < row_warps; ++warp)
            value = is_max ? fmaxf(value, row_smem[warp]) : value + row_smem[warp];
    }
    return value;
}

// ---- The schedule ----

extern "C" __global__ void __launch_bounds__(threads)
    softmax_rows(const element *__restrict__ x, element *__restrict__ y, int ROWS, int COLS) {
    constexpr int stride =
        row_threads * vector; // columns that the threads of a row process per iteration
    const i64 row = static_cast<i64>(blockIdx.x) * block_rows + threadIdx.x / row_threads;
    const int first_column = threadIdx.x % row_threads * vector;
    const int end = row < ROWS ? COLS : 0; // surplus threads of the last block process an empty row
    const element *x_gmem = x + row * COLS;
    element *y_gmem = y + row * COLS;
    float_vector cached_rmem[cached_vectors > 0 ? cached_vectors : 1];

    float row_max = minus_infinity;
#pragma unroll
    for (int i = 0; i < cached_vectors; ++i) {
        cached_rmem[i] = load_x(x_gmem, first_column + i * stride, end);
        row_max = fmaxf(row_max, vector_max(cached_rmem[i]));
    }
#pragma unroll unroll
    for (int column = first_column + cached_vectors * stride; column < end; column += stride)
        row_max = fmaxf(row_max, vector_max(load_x(x_gmem, column, end)));
    row_max = row_reduce<true>(row_max);

    float row_sum = 0;
#pragma unroll
    for (int i = 0; i < cached_vectors; ++i) {
        cached_rmem[i] = exp_values(cached_rmem[i], row_max);
        row_sum += vector_sum(cached_rmem[i]);
    }
#pragma unroll unroll
    for (int column = first_column + cached_vectors * stride; column < end; column += stride)
        row_sum += vector_sum(exp_values(load_x(x_gmem, column, end), row_max));
    const float inverse = 1.0f / row_reduce<false>(row_sum);

    auto scale_and_store = [&](int column, float_vector exp_value) {
#pragma unroll
        for (int i = 0; i < vector; ++i)
            exp_value.values[i] *= inverse;
        store_y(y_gmem, column, end, exp_value);
    };
#pragma unroll
    for (int i = 0; i < cached_vectors; ++i)
        scale_and_store(first_column + i * stride, cached_rmem[i]);
#pragma unroll unroll
    for (int column = first_column + cached_vectors * stride; column < end; column += stride)
        scale_and_store(column, exp_values(load_x(x_gmem, column, end), row_max));
}
