// Residual add and RMS norm of rows, the step between two layers of a transformer:
//
//   x[r][c] += residual[r][c]                                          in place
//   y[r][c] = weight[c] x[r][c] / sqrt(mean over row r of x^2 + EPSILON)
//
//   x, residual, y [ROWS, COLS], weight [COLS]   bfloat16 if BF16, else half
//
// ROW_THREADS threads of a block, or all threads of a cluster, have a row: they load their vectors
// of it, add, store x, reduce the squares, and scale what they kept in registers.

#include "lib/math.cuh"
#include "lib/packed.cuh"
#include "lib/row_reduce.cuh"
#include "lib/row_vectors.cuh"
#include "lib/types.cuh"
#include "lib/widen.cuh"

// ---- Genes ----

#if !defined(THREADS) || !defined(ROW_THREADS) || !defined(CLUSTER) || !defined(VECTOR) ||         \
    !defined(HELD) || !defined(SUMS) || !defined(CTAS_PER_SM) || !defined(AHEAD) ||                \
    !defined(MIN_CTAS) || !defined(WEIGHT) || !defined(STREAMING)
#error "a gene of add_rms_norm is not defined: see genes in solution.json"
#endif

constexpr int threads = THREADS;         // threads per block
constexpr int row_threads = ROW_THREADS; // threads of a block that share a row
constexpr int cluster = CLUSTER;         // blocks that share a row
constexpr int width = VECTOR;            // elements per load
constexpr int held = HELD;               // vectors of a row that a thread keeps in registers
constexpr bool loops = CTAS_PER_SM > 0;  // over rows
constexpr int min_ctas = max_of(CTAS_PER_SM, MIN_CTAS);
constexpr bool ahead = AHEAD; // the next row is loaded before the current one is reduced
constexpr bool rounded_sums = SUMS == SUMS_ROUNDED;
constexpr bool weight_once = WEIGHT == WEIGHT_ONCE, weight_late = WEIGHT == WEIGHT_LATE;
constexpr bool stream_loads = STREAMING == STREAMING_LOADS || STREAMING == STREAMING_BOTH;
constexpr bool stream_stores = STREAMING == STREAMING_STORES || STREAMING == STREAMING_BOTH;

// ---- Derived sizes and shared memory ----

using element = conditional_t<BF16, bf16, f16>;
using elements = packed<element, width>;
constexpr int block_rows = threads / row_threads;
constexpr int stride = cluster * row_threads * width; // columns that a row's threads load at once

#if CLUSTER > 1
#define IN_CLUSTER __cluster_dims__(CLUSTER, 1, 1)
#else
#define IN_CLUSTER
#endif

__shared__ row_reduction<row_sum, threads, row_threads, cluster> reduction_smem;

// ---- Steps ----

// Where a thread works: its row, and its first column there.
template <bool aligned> struct place {
    i64 start;           // of the row in the matrix
    int column, columns; // a row beyond the last one has no columns

    DEVICE place(i64 group, int thread, int ROWS, int COLS) {
        const i64 row = group * block_rows + threadIdx.x / row_threads;
        start = row * COLS;
        columns = row < ROWS ? COLS : 0;
        column = first_vector_column<width, aligned>(row, COLS) + thread * width;
    }
};

struct inputs {
    elements x[held], residual[held];

    template <bool aligned>
    DEVICE void load(const element *x_gmem, const element *residual_gmem,
                     const place<aligned> &at) {
#pragma unroll
        for (int i = 0; i < held; ++i) {
            const int column = at.column + i * stride;
            x[i] = load_row_vector<width, stream_loads, aligned>(x_gmem + at.start, column,
                                                                 at.columns);
            residual[i] = load_row_vector<width, stream_loads, aligned>(residual_gmem + at.start,
                                                                        column, at.columns);
        }
    }
};

struct weights {
    elements values[held];

    template <bool aligned>
    DEVICE void load(const element *weight_gmem, int first_column, int COLS) {
#pragma unroll
        for (int i = 0; i < held; ++i)
            values[i] =
                load_column_vector<width, aligned>(weight_gmem, first_column + i * stride, COLS);
    }
};

// What a thread keeps of a vector of sums: floats, or, in half of the registers, what it stores.
struct sums {
    float exact[rounded_sums ? 1 : width];
    elements stored;

    DEVICE float get(int i) const {
        return rounded_sums ? widen(stored.get(i)) : exact[i];
    }
};

// The sums, rounded in `stored`; adds the squares of what is kept.
DEVICE sums add_residual(const elements &x, const elements &residual, row_sum &squares) {
    float sum[width];
    sums result;
#pragma unroll
    for (int i = 0; i < width; ++i) {
        sum[i] = widen(x.get(i)) + widen(residual.get(i));
        if constexpr (!rounded_sums)
            result.exact[i] = sum[i];
    }
    result.stored = elements::rounded(sum);
#pragma unroll
    for (int i = 0; i < width; ++i)
        squares.value += result.get(i) * result.get(i);
    return result;
}

DEVICE elements scaled(const sums &x, const elements &weight, float scale) {
    float y[width];
#pragma unroll
    for (int i = 0; i < width; ++i)
        y[i] = x.get(i) * scale * widen(weight.get(i));
    return elements::rounded(y);
}

DEVICE elements scaled(const elements &x, const elements &weight, float scale) {
    float y[width];
#pragma unroll
    for (int i = 0; i < width; ++i)
        y[i] = widen(x.get(i)) * scale * widen(weight.get(i));
    return elements::rounded(y);
}

// ---- The schedule ----

// aligned: COLS is a multiple of the vector. The launches select it, so that no thread has
// registers for the edges of rows that have none.
template <bool aligned>
__global__ void IN_CLUSTER __launch_bounds__(threads, min_ctas)
    add_rms_norm(element *x, const element *__restrict__ residual,
                 const element *__restrict__ weight, element *__restrict__ y, int ROWS, int COLS,
                 float EPSILON) {
    const int groups = (ROWS + block_rows - 1) / block_rows; // of rows that a block has at once
    const int step = gridDim.x / cluster, rank = blockIdx.x % cluster;
    const int thread = rank * row_threads + threadIdx.x % row_threads;
    const float inverse_columns = reciprocal_fast(COLS); // while loads are in flight
    inputs next;
    weights weight_rmem;

    reduction_smem.begin();
    if constexpr (weight_once) // rows begin at whole vectors: every row has the same columns
        weight_rmem.load<aligned>(weight, thread * width, COLS);
    if constexpr (ahead)
        next.load(x, residual, place<aligned>(blockIdx.x / cluster, thread, ROWS, COLS));
    int turn = 0;
    for (int group = blockIdx.x / cluster; group < groups; group += step, ++turn) {
        const place<aligned> at(group, thread, ROWS, COLS);
        inputs own;
        if constexpr (ahead) {
            own = next;
            next.load(x, residual,
                      place<aligned>(static_cast<i64>(group) + step, thread, ROWS, COLS));
        } else {
            own.load(x, residual, at);
        }
        if constexpr (!weight_once && !weight_late)
            weight_rmem.load<aligned>(weight, at.column, COLS);

        sums sums_rmem[held];
        row_sum squares;
#pragma unroll
        for (int i = 0; i < held; ++i) {
            sums_rmem[i] = add_residual(own.x[i], own.residual[i], squares);
            store_row_vector<width, stream_stores, aligned>(x + at.start, at.column + i * stride,
                                                            at.columns, sums_rmem[i].stored);
        }
#pragma unroll 1
        for (int column = at.column + held * stride; column < at.columns; column += stride) {
            const elements old =
                load_row_vector<width, stream_loads, aligned>(x + at.start, column, at.columns);
            const elements added = load_row_vector<width, stream_loads, aligned>(
                residual + at.start, column, at.columns);
            store_row_vector<width, false, aligned>(x + at.start, column, at.columns,
                                                    add_residual(old, added, squares).stored);
        }
        squares = reduction_smem.reduce(squares, turn);
        const float scale = rsqrt_fast(squares.value * inverse_columns + EPSILON);

        if constexpr (weight_late)
            weight_rmem.load<aligned>(weight, at.column, COLS);
#pragma unroll
        for (int i = 0; i < held; ++i)
            store_row_vector<width, stream_stores, aligned>(
                y + at.start, at.column + i * stride, at.columns,
                scaled(sums_rmem[i], weight_rmem.values[i], scale));
#pragma unroll 1
        for (int column = at.column + held * stride; column < at.columns; column += stride)
            store_row_vector<width, stream_stores, aligned>(
                y + at.start, column, at.columns,
                // What is not kept is read again, as this thread stored it.
                scaled(load_row_vector<width, false, aligned>(x + at.start, column, at.columns),
                       load_column_vector<width, aligned>(weight, column, COLS), scale));
        if constexpr (!loops)
            break;
    }
}
