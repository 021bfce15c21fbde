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
constexpr int keep = KEEP;     // vectors a thread keeps in registers; further ones are read anew
constexpr int unroll = UNROLL; // of the loops over further vectors

using element = choose<F32, float, f16>;

// ---- Derived sizes and shared memory ----

constexpr int block_rows = threads / row_threads;
constexpr int row_warps = row_threads > 32 ? row_threads / 32 : 1;

static_assert(threads % row_threads == 0 && threads <= 1024, "a block works on whole rows");
static_assert(vector * sizeof(element) <= 16, "a load is at most 16 bytes wide");

// One word a warp: what the warps of a row tell each other, where a row has several.
__shared__ float partial_smem[threads / 32];

// ---- Steps ----

struct alignas(vector * sizeof(element)) packed {
    element part[vector];
};

struct values {
    float part[vector];
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
DEVICE values load_x(const element *row_gmem, int column, int COLS) {
    values x;
    if (COLS % vector == 0 && column < COLS) {
        const packed read = *reinterpret_cast<const packed *>(row_gmem + column);
#pragma unroll
        for (int i = 0; i < vector; ++i)
            x.part[i] = widen(read.part[i]);
    } else {
#pragma unroll
        for (int i = 0; i < vector; ++i)
            x.part[i] = column + i < COLS ? widen(row_gmem[column + i]) : minus_infinity;
    }
    return x;
}

DEVICE void store_y(element *row_gmem, int column, int COLS, const values &y) {
    packed write;
#pragma unroll
    for (int i = 0; i < vector; ++i)
        narrow(write.part[i], y.part[i]);
    if (COLS % vector == 0 && column < COLS) {
        *reinterpret_cast<packed *>(row_gmem + column) = write;
        return;
    }
#pragma unroll
    for (int i = 0; i < vector; ++i)
        if (column + i < COLS)
            row_gmem[column + i] = write.part[i];
}

DEVICE float largest_of(const values &x) {
    float largest = x.part[0];
#pragma unroll
    for (int i = 1; i < vector; ++i)
        largest = fmaxf(largest, x.part[i]);
    return largest;
}

// exp(x - largest), element by element.
DEVICE values weights(const values &x, float largest) {
    values weight;
#pragma unroll
    for (int i = 0; i < vector; ++i)
        weight.part[i] = exp2_fast((x.part[i] - largest) * 1.4426950408889634f);
    return weight;
}

DEVICE float sum_of(const values &x) {
    float sum = 0;
#pragma unroll
    for (int i = 0; i < vector; ++i)
        sum += x.part[i];
    return sum;
}

// The largest, or the sum, of the values of all threads of a row; every one of them gets it.
template <bool largest> DEVICE float over_row(float value) {
    constexpr int lanes = row_threads < 32 ? row_threads : 32;
    value = largest ? lanes_max<lanes>(value) : lanes_sum<lanes>(value);
    if constexpr (row_warps > 1) {
        __syncthreads(); // what was exchanged before has been read
        if (threadIdx.x % 32 == 0)
            partial_smem[threadIdx.x / 32] = value;
        __syncthreads(); // every warp's part is there
        const float *row_smem = partial_smem + threadIdx.x / row_threads * row_warps;
        value = row_smem[0];
#pragma unroll
        for (int warp = 1; warp < row_warps; ++warp)
            value = largest ? fmaxf(value, row_smem[warp]) : value + row_smem[warp];
    }
    return value;
}

// ---- The schedule ----

extern "C" __global__ void __launch_bounds__(threads)
    softmax_rows(const element *__restrict__ x, element *__restrict__ y, int ROWS, int COLS) {
    constexpr int stride =
        row_threads * vector; // columns that the threads of a row take in one turn
    const i64 row = static_cast<i64>(blockIdx.x) * block_rows + threadIdx.x / row_threads;
    const int own = threadIdx.x % row_threads * vector;
    const int end = row < ROWS ? COLS : 0; // a block's surplus threads see an empty row
    const element *x_gmem = x + row * COLS;
    element *y_gmem = y + row * COLS;
    values kept_rmem[keep > 0 ? keep : 1];

    float largest = minus_infinity;
#pragma unroll
    for (int turn = 0; turn < keep; ++turn) {
        kept_rmem[turn] = load_x(x_gmem, own + turn * stride, end);
        largest = fmaxf(largest, largest_of(kept_rmem[turn]));
    }
#pragma unroll unroll
    for (int column = own + keep * stride; column < end; column += stride)
        largest = fmaxf(largest, largest_of(load_x(x_gmem, column, end)));
    largest = over_row<true>(largest);

    float sum = 0;
#pragma unroll
    for (int turn = 0; turn < keep; ++turn) {
        kept_rmem[turn] = weights(kept_rmem[turn], largest);
        sum += sum_of(kept_rmem[turn]);
    }
#pragma unroll unroll
    for (int column = own + keep * stride; column < end; column += stride)
        sum += sum_of(weights(load_x(x_gmem, column, end), largest));
    const float inverse = 1.0f / over_row<false>(sum);

    auto scale_and_store = [&](int column, values weight) {
#pragma unroll
        for (int i = 0; i < vector; ++i)
            weight.part[i] *= inverse;
        store_y(y_gmem, column, end, weight);
    };
#pragma unroll
    for (int turn = 0; turn < keep; ++turn)
        scale_and_store(own + turn * stride, kept_rmem[turn]);
#pragma unroll unroll
    for (int column = own + keep * stride; column < end; column += stride)
        scale_and_store(column, weights(load_x(x_gmem, column, end), largest));
}
