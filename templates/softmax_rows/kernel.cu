// Softmax of rows:  y[r][c] = exp(x[r][c] - max of row r) / sum over the row of the same.
//
//   x, y   [ROWS, COLS]   float if F32, else half
//
// ROW_THREADS neighbouring threads share a row, and walk it in vectors of VECTOR elements.

#include "lib/half.cuh"
#include "lib/math.cuh"
#include "lib/types.cuh"
#include "lib/warp.cuh"

// ---- Genes ----

#if !defined(THREADS) || !defined(ROW_THREADS) || !defined(VECTOR) || !defined(KEEP) ||            \
    !defined(UNROLL)
#error "a gene of softmax_rows is not defined: see genes in template.json"
#endif

constexpr int threads = THREADS;         // threads a block
constexpr int row_threads = ROW_THREADS; // threads that share a row
constexpr int vector = VECTOR;           // elements a load
constexpr int cached_vectors =
    KEEP;                      // vectors a thread keeps in registers; further ones are read anew
constexpr int unroll = UNROLL; // of the loops over further vectors

using element = conditional_t<F32, float, f16>;

// ---- Derived sizes and shared memory ----

constexpr int block_rows = threads / row_threads;
constexpr int row_warps = row_threads > 32 ? row_threads / 32 : 1;

static_assert(threads % row_threads == 0 && threads <= 1024, "a block works on whole rows");
static_assert(vector * sizeof(element) <= 16, "a load is at most 16 bytes wide");

// One word a warp: what the warps of a row tell each other, where a row has several.
__shared__ float partial_smem[threads / 32];

// ---- Steps ----

struct alignas(vector * sizeof(element)) packed_vector {
    element element[vector];
};

struct float_vector {
    float element[vector];
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

// The vector at `column`, in one load where the rows are aligned; past the row's end, minus
// infinity.
DEVICE float_vector load_x(const element *row_gmem, int column, int COLS) {
    float_vector x;
    if (COLS % vector == 0 && column < COLS) {
        const packed_vector loaded = *reinterpret_cast<const packed_vector *>(row_gmem + column);
#pragma unroll
        for (int i = 0; i < vector; ++i)
            x.element[i] = widen(loaded.element[i]);
    } else {
#pragma unroll
        for (int i = 0; i < vector; ++i)
            x.element[i] = column + i < COLS ? widen(row_gmem[column + i]) : minus_infinity;
    }
    return x;
}

DEVICE void store_y(element *row_gmem, int column, int COLS, const float_vector &y) {
    packed_vector packed;
#pragma unroll
    for (int i = 0; i < vector; ++i)
        narrow(packed.element[i], y.element[i]);
    if (COLS % vector == 0 && column < COLS) {
        *reinterpret_cast<packed_vector *>(row_gmem + column) = packed;
        return;
    }
#pragma unroll
    for (int i = 0; i < vector; ++i)
        if (column + i < COLS)
            row_gmem[column + i] = packed.element[i];
}

DEVICE float vector_max(const float_vector &x) {
    float row_max = x.element[0];
#pragma unroll
    for (int i = 1; i < vector; ++i)
        row_max = fmaxf(row_max, x.element[i]);
    return row_max;
}

// exp(x - largest), element by element.
DEVICE float_vector exp_values(const float_vector &x, float row_max) {
    float_vector exp_value;
#pragma unroll
    for (int i = 0; i < vector; ++i)
        exp_value.element[i] = exp2_fast((x.element[i] - row_max) * 1.4426950408889634f);
    return exp_value;
}

DEVICE float vector_sum(const float_vector &x) {
    float row_sum = 0;
#pragma unroll
    for (int i = 0; i < vector; ++i)
        row_sum += x.element[i];
    return row_sum;
}

// The largest, or the sum, of the values of all threads of a row; every one of them gets it.
template <bool row_max> DEVICE float row_reduce(float value) {
    constexpr int lanes = row_threads < 32 ? row_threads : 32;
    value = row_max ? lanes_max<lanes>(value) : lanes_sum<lanes>(value);
    if constexpr (row_warps > 1) {
        __syncthreads(); // what was exchanged before has been read
        if (threadIdx.x % 32 == 0)
            partial_smem[threadIdx.x / 32] = value;
        __syncthreads(); // every warp's part is there
        const float *row_smem = partial_smem + threadIdx.x / row_threads * row_warps;
        value = row_smem[0];
#pragma unroll
        for (int warp = 1; warp < row_warps; ++warp)
            value = row_max ? fmaxf(value, row_smem[warp]) : value + row_smem[warp];
    }
    return value;
}

// ---- The schedule ----

extern "C" __global__ void __launch_bounds__(threads)
    softmax_rows(const element *__restrict__ x, element *__restrict__ y, int ROWS, int COLS) {
    constexpr int stride =
        row_threads * vector; // columns that the threads of a row take in one turn
    const i64 row = static_cast<i64>(blockIdx.x) * block_rows + threadIdx.x / row_threads;
    const int first_column = threadIdx.x % row_threads * vector;
    const int end = row < ROWS ? COLS : 0; // a block's surplus threads see an empty row
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
            exp_value.element[i] *= inverse;
        store_y(y_gmem, column, end, exp_value);
    };
#pragma unroll
    for (int i = 0; i < cached_vectors; ++i)
        scale_and_store(first_column + i * stride, cached_rmem[i]);
#pragma unroll unroll
    for (int column = first_column + cached_vectors * stride; column < end; column += stride)
        scale_and_store(column, exp_values(load_x(x_gmem, column, end), row_max));
}
