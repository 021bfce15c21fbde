// Layer norm of rows:
//
//   y[r][c] = weight[c] (x[r][c] - mean of row r) / sqrt(variance of row r + EPSILON) + bias[c]
//
//   x, y [ROWS, COLS], weight, bias [COLS]   float if F32, else bfloat16
//
// ROW_THREADS threads of a block, or all threads of a cluster, have a row, whose first HELD vectors
// they keep in registers. The variance is that of deviations, never a difference of two squares.

#include "lib/math.cuh"
#include "lib/packed.cuh"
#include "lib/row_reduce.cuh"
#include "lib/row_vectors.cuh"
#include "lib/types.cuh"
#include "lib/widen.cuh"

// ---- Genes ----

#if !defined(THREADS) || !defined(ROW_THREADS) || !defined(CLUSTER) || !defined(VECTOR) ||         \
    !defined(HELD) || !defined(VARIANCE) || !defined(MIN_CTAS) || !defined(WEIGHT) ||              \
    !defined(STREAMING)
#error "a gene of layer_norm is not defined: see genes in solution.json"
#endif

constexpr int threads = THREADS;         // threads per block
constexpr int row_threads = ROW_THREADS; // threads of a block that share a row
constexpr int cluster = CLUSTER;         // blocks that share a row
constexpr int width = VECTOR;            // elements per load
constexpr int held = HELD;               // vectors of a row that a thread keeps in registers
constexpr int min_ctas = MIN_CTAS;
constexpr bool merged = VARIANCE == VARIANCE_MERGED;
constexpr bool weight_early = WEIGHT == WEIGHT_EARLY;
constexpr bool stream_loads = STREAMING == STREAMING_LOADS || STREAMING == STREAMING_BOTH;
constexpr bool stream_stores = STREAMING == STREAMING_STORES || STREAMING == STREAMING_BOTH;

// ---- Derived sizes and shared memory ----

using element = conditional_t<F32, float, bf16>;
using elements = packed<element, width>;

constexpr int block_rows = threads / row_threads;
constexpr int stride = cluster * row_threads * width; // columns that a row's threads load at once

#if CLUSTER > 1
#define IN_CLUSTER __cluster_dims__(CLUSTER, 1, 1)
#else
#define IN_CLUSTER
#endif

// Of some elements: how many, their mean, and the sum of their squared deviations from it. Two of
// them merge by Chan's formula, without the cancellation of sums of squares.
struct row_moments {
    static constexpr bool symmetric = false;
    float count = 0.0f, mean = 0.0f, squares = 0.0f;

    DEVICE void merge(const row_moments &other) {
        const float both = count + other.count, distance = other.mean - mean;
        const float share = both > 0.0f ? other.count / both : 0.0f;
        mean += distance * share;
        squares += other.squares + distance * distance * count * share;
        count = both;
    }
};

template <typename partial> using reduction = row_reduction<partial, threads, row_threads, cluster>;

__shared__ reduction<conditional_t<merged, row_moments, row_sum>> reduction_smem;

// ---- Steps ----

template <bool aligned> struct row {
    const element *x;
    int column, columns; // of the thread's first vector; a row beyond the last one has no columns

    // What is not kept is read several times, and stays in the caches.
    DEVICE elements load(int c) const {
        return load_row_vector<width, false, aligned>(x, c, columns);
    }

    // Calls `use` with the value of each element that the thread has, kept ones first.
    template <typename function>
    DEVICE void each(const elements (&kept)[held], function use) const {
        auto each_of = [&](const elements &some, int c) {
            if constexpr (aligned) {
                if (c < columns)
#pragma unroll
                    for (int i = 0; i < width; ++i)
                        use(widen(some.get(i)));
            } else {
#pragma unroll
                for (int i = 0; i < width; ++i)
                    if (c + i >= 0 && c + i < columns)
                        use(widen(some.get(i)));
            }
        };
#pragma unroll
        for (int i = 0; i < held; ++i)
            each_of(kept[i], column + i * stride);
#pragma unroll 1
        for (int c = column + held * stride; c < columns; c += stride)
            each_of(load(c), c);
    }
};

// Divides by the number of columns, rounded to nearest as the operator is, with what was computed
// while loads were in flight.
struct column_count {
    float count, inverse;

    explicit DEVICE column_count(int COLS) : count(COLS), inverse(reciprocal_fast(COLS)) {
    }

    DEVICE float mean(float sum) const {
        const float quotient = sum * inverse;
        return fmaf(fmaf(-quotient, count, sum), inverse, quotient);
    }
};

struct statistics {
    float mean, variance;
};

template <bool aligned>
DEVICE float squared_deviations(const row<aligned> &of, const elements (&kept)[held], float mean) {
    float squares = 0.0f;
    of.each(kept, [&](float value) { squares += (value - mean) * (value - mean); });
    return squares;
}

// The mean of a row, then that of its squared deviations.
template <bool aligned>
DEVICE statistics row_statistics(reduction<row_sum> &sums, const row<aligned> &of,
                                 const elements (&kept)[held], const column_count &columns) {
    float sum = 0.0f;
    of.each(kept, [&](float value) { sum += value; });
    const float mean = columns.mean(sums.reduce(row_sum{sum}, 0).value);
    const row_sum squares = {squared_deviations(of, kept, mean)};
    return {mean, columns.mean(sums.reduce(squares, 1).value)};
}

// Both of each thread's elements, and then of all threads'.
template <bool aligned>
DEVICE statistics row_statistics(reduction<row_moments> &moments, const row<aligned> &of,
                                 const elements (&kept)[held], const column_count &columns) {
    float sum = 0.0f, count = 0.0f;
    of.each(kept, [&](float value) {
        sum += value;
        count += 1.0f;
    });
    const float mean = count > 0.0f ? sum / count : 0.0f;
    const row_moments own = {count, mean, squared_deviations(of, kept, mean)};
    const row_moments all = moments.reduce(own, 0);
    return {all.mean, columns.mean(all.squares)};
}

DEVICE elements normalised(const elements &x, const elements &weight, const elements &bias,
                           float mean, float scale) {
    float y[width];
#pragma unroll
    for (int i = 0; i < width; ++i)
        y[i] = (widen(x.get(i)) - mean) * scale * widen(weight.get(i)) + widen(bias.get(i));
    return elements::rounded(y);
}

// ---- The schedule ----

// aligned: COLS is a multiple of the vector. The launches select it, so that no thread has
// registers for the edges of rows that have none.
template <bool aligned>
__global__ void IN_CLUSTER __launch_bounds__(threads, min_ctas)
    layer_norm(const element *__restrict__ x, const element *__restrict__ weight,
               const element *__restrict__ bias, element *__restrict__ y, int ROWS, int COLS,
               float EPSILON) {
    const i64 n = static_cast<i64>(blockIdx.x / cluster) * block_rows + threadIdx.x / row_threads;
    const int thread = blockIdx.x % cluster * row_threads + threadIdx.x % row_threads;
    const row<aligned> own = {x + n * COLS,
                              first_vector_column<width, aligned>(n, COLS) + thread * width,
                              n < ROWS ? COLS : 0};
    element *y_row = y + n * COLS;
    elements kept[held], weights[held], biases[held];

    reduction_smem.begin();
#pragma unroll
    for (int i = 0; i < held; ++i)
        kept[i] = load_row_vector<width, stream_loads, aligned>(own.x, own.column + i * stride,
                                                                own.columns);
    auto load_weights = [&](int i) {
        const int column = own.column + i * stride;
        weights[i] = load_column_vector<width, aligned>(weight, column, COLS);
        biases[i] = load_column_vector<width, aligned>(bias, column, COLS);
    };
    if constexpr (weight_early)
#pragma unroll
        for (int i = 0; i < held; ++i)
            load_weights(i);

    const statistics of_row = row_statistics(reduction_smem, own, kept, column_count(COLS));
    const float scale = rsqrt_fast(of_row.variance + EPSILON);

    if constexpr (!weight_early)
#pragma unroll
        for (int i = 0; i < held; ++i)
            load_weights(i);
#pragma unroll
    for (int i = 0; i < held; ++i)
        store_row_vector<width, stream_stores, aligned>(
            y_row, own.column + i * stride, own.columns,
            normalised(kept[i], weights[i], biases[i], of_row.mean, scale));
#pragma unroll 1
    for (int c = own.column + held * stride; c < own.columns; c += stride)
        store_row_vector<width, stream_stores, aligned>(
            y_row, c, own.columns,
            normalised(own.load(c), load_column_vector<width, aligned>(weight, c, COLS),
                       load_column_vector<width, aligned>(bias, c, COLS), of_row.mean, scale));
}
