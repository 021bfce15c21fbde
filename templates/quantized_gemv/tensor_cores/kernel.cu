// A few vectors times a matrix of scaled 4-bit integers:
//
//   y[m][n] = sum over k of x[m][k] * ((q[n][k] - 8) * scale[k / GROUP][n] + zero[k / GROUP][n])
//
// A warp multiplies tiles of 16 rows of q by x, whose M rows are columns of a tensor-core product.
// The integers are exact as 16-bit floats; scale and zero are applied to the sums of a group, in
// float. The warps of a block, and SPLITS blocks, share the columns of the same rows.

#include "lib/element.cuh"
#include "lib/int4.cuh"
#include "lib/last_block.cuh"
#include "lib/mma.cuh"
#include "lib/pdl.cuh"
#include "lib/types.cuh"
#include "lib/vector.cuh"
#include "lib/warp.cuh"

// ---- Genes ----

#if !defined(WARPS) || !defined(TILES) || !defined(LOADS) || !defined(X) || !defined(SPLITS) ||    \
    !defined(COMBINE)
#error "a gene of quantized_gemv is not defined: see genes in solution.json"
#endif

constexpr int warps = WARPS; // warps per block, which split the columns of its rows
constexpr int tiles = TILES; // tiles of 16 rows of a warp
constexpr int loads = LOADS; // steps whose loads are in flight at once
constexpr bool x_is_shared = X == X_SHARED;
constexpr int splits = SPLITS; // blocks that share rows
constexpr bool combine_by_pdl = splits > 1 && COMBINE == COMBINE_EARLY;
constexpr bool combine_by_last_block = splits > 1 && COMBINE == COMBINE_LAST;

// ---- Specialised dimensions and derived sizes ----

using element = conditional_t<BF16, bf16, f16>;

constexpr int x_rows = M;
constexpr int group_size = GROUP;
constexpr int step = 128;                      // columns of a step: 16 bytes a lane, 4 lanes a row
constexpr int step_groups = step / group_size; // groups of a step
constexpr int group_words = group_size / 32;   // words of a lane in a group
constexpr bool exchanges = group_size < step;  // lanes exchange words, so that all have one group
constexpr int threads = 32 * warps, rows = 16 * tiles;

static_assert(x_rows <= 8, "a product has 8 columns");
static_assert(step % group_size == 0 && group_size % 32 == 0, "a word of 4 lanes is in one group");

extern __shared__ uint4 dynamic_smem[];

// What a warp loads of a step: rows g and g + 8 of each tile.
struct step_data {
    vector<u32, 4> words[tiles][2];
    u32 scale_zero[tiles][2][step_groups]; // of row g and g + 8, the scale in the lower half
};

// ---- Steps ----

DEVICE int row_index(int row, int N) {
    return min_of(row, N - 1); // rows beyond the last are computed as the last, and not stored
}

// The integers and scales of the step that begins at column `column`. Beyond the last column they
// are zeros, as x is there.
DEVICE void load_step(step_data &data, const u32 *weights, const u32 *scales_zeros, int first_row,
                      int column, int N, int K) {
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int row = row_index(first_row + tile * 16 + half * 8 + g, N);
            data.words[tile][half] = {};
            if (column + 32 * t < K)
                data.words[tile][half] =
                    load_vector<4>(weights + (static_cast<i64>(row) * K + column) / 8 + 4 * t);
#pragma unroll
            for (int i = 0; i < step_groups; ++i) {
                const int group = column / group_size + i;
                data.scale_zero[tile][half][i] =
                    group * group_size < K ? scales_zeros[static_cast<i64>(group) * N + row] : 0;
            }
        }
}

// Neighbours 2 i and 2 i + 1 as pairs of i and i + 4, which unpack_int4 has: the order of terms is
// free.
DEVICE vector<u32, 4> pair_order(const vector<u32, 4> &words) {
    vector<u32, 4> pairs;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        pairs.values[2 * i] = __byte_perm(words.values[i], words.values[i + 2], 0x5410);
        pairs.values[2 * i + 1] = __byte_perm(words.values[i], words.values[i + 2], 0x7632);
    }
    return pairs;
}

// Eight elements of x from column `column` of row m, in the order of pair_order; zeros beyond.
DEVICE vector<u32, 4> load_x(const u32 *x, int m, int column, int K) {
    return column < K ? pair_order(load_vector<4>(x + (static_cast<i64>(m) * K + column) / 2))
                      : vector<u32, 4>{};
}

// The x of this block's columns in shared memory, in the order of pair_order. A row has 8 elements
// more than it needs, so that rows begin in other banks.
DEVICE void stage_x(vector<u32, 4> *x_smem, const u32 *x, int first_column, int columns, int K) {
    const int row_vectors = columns / 8;
    for (int i = threadIdx.x; i < x_rows * row_vectors; i += threads) {
        const int m = i / row_vectors, v = i % row_vectors;
        x_smem[m * (row_vectors + 1) + v] = load_x(x, m, first_column + 8 * v, K);
    }
    __syncthreads(); // x is staged
}

// Adds a step. Accumulator i is of row g + i / 2 * 8 and of row 2 t + i % 2 of x, as in
// lib/mma.cuh.
DEVICE void add_step(float (&sums)[tiles][4], step_data &data, const u32 *x,
                     const vector<u32, 4> *x_smem, int column, int smem_column, int row_vectors,
                     int K) {
    constexpr u32 ones[4] = {BF16 ? 0x3f803f80 : 0x3c003c00, BF16 ? 0x3f803f80 : 0x3c003c00,
                             BF16 ? 0x3f803f80 : 0x3c003c00, BF16 ? 0x3f803f80 : 0x3c003c00};
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    if constexpr (exchanges)
#pragma unroll
        for (int tile = 0; tile < tiles; ++tile)
#pragma unroll
            for (int half = 0; half < 2; ++half)
                lanes_transpose(data.words[tile][half].values);
#pragma unroll
    for (int group = 0; group < step_groups; ++group) {
        float group_sums[tiles][4] = {}, x_sums[4] = {};
#pragma unroll
        for (int word = group * group_words; word < (group + 1) * group_words; ++word) {
            const int offset = exchanges ? 32 * word + 8 * t : 32 * t + 8 * word;
            vector<u32, 4> x_pairs = {};
            if (g < x_rows) {
                if constexpr (x_is_shared)
                    x_pairs = x_smem[g * row_vectors + (smem_column + offset) / 8];
                else
                    x_pairs = load_x(x, g, column + offset, K);
            }
#pragma unroll
            for (int i = 0; i < 4; i += 2) // the sums of x are those of integers that are all one
                mma_m16n8k16<element>(x_sums, ones, x_pairs.values[i], x_pairs.values[i + 1]);
#pragma unroll
            for (int tile = 0; tile < tiles; ++tile) {
                u32 upper[4], lower[4];
                unpack_int4<element>(data.words[tile][0].values[word], upper);
                unpack_int4<element>(data.words[tile][1].values[word], lower);
#pragma unroll
                for (int i = 0; i < 4; i += 2) {
                    const u32 integers[4] = {upper[i], lower[i], upper[i + 1], lower[i + 1]};
                    mma_m16n8k16<element>(group_sums[tile], integers, x_pairs.values[i],
                                          x_pairs.values[i + 1]);
                }
            }
        }
#pragma unroll
        for (int tile = 0; tile < tiles; ++tile)
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const u32 scale_zero = data.scale_zero[tile][i / 2][group];
                sums[tile][i] += unpack_low<element>(scale_zero) * group_sums[tile][i] +
                                 unpack_high<element>(scale_zero) * x_sums[i];
            }
    }
}

DEVICE void store_y(element *y, i64 index, float value) {
    y[index] = element{static_cast<u16>(pack_pair<element>(value, 0.0f))};
}

DEVICE void add_splits(const float *split_sums, element *y, i64 index, int N) {
    float sum = 0.0f;
#pragma unroll
    for (int split = 0; split < splits; ++split)
        sum += split_sums[static_cast<i64>(split) * x_rows * N + index];
    store_y(y, index, sum);
}

// Adds the sums of warps. Element i of the block is row i % rows of W and row i / rows of x.
template <typename operation> DEVICE void for_elements(int first_row, int N, operation apply) {
    for (int i = threadIdx.x; i < x_rows * rows; i += threads)
        if (first_row + i % rows < N)
            apply(i, static_cast<i64>(i / rows) * N + first_row + i % rows);
}

// ---- The schedule ----

extern "C" __global__ void __launch_bounds__(threads)
    gemv_rows(const u32 *__restrict__ x, const u32 *__restrict__ weights,
              const u32 *__restrict__ scales_zeros, element *y, float *split_sums, u32 *counters,
              int N, int K, int split_steps) {
    const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    const int first_row = blockIdx.x * rows;
    const int first_step = blockIdx.y * split_steps;
    const int row_vectors = split_steps * step / 8 + 1;
    vector<u32, 4> *x_smem = reinterpret_cast<vector<u32, 4> *>(dynamic_smem);
    float *sums_smem = reinterpret_cast<float *>(dynamic_smem);
    if constexpr (combine_by_pdl)
        griddepcontrol_launch_dependents();
    if constexpr (x_is_shared)
        stage_x(x_smem, x, first_step * step, split_steps * step, K);

    float sums[tiles][4] = {};
    for (int first = warp; first < split_steps; first += warps * loads) {
        step_data data[loads];
#pragma unroll
        for (int load = 0; load < loads; ++load)
            load_step(
                data[load], weights, scales_zeros, first_row,
                first + load * warps < split_steps ? (first_step + first + load * warps) * step : K,
                N, K);
#pragma unroll
        for (int load = 0; load < loads; ++load) {
            const int index = first + load * warps;
            if (index < split_steps)
                add_step(sums, data[load], x, x_smem, (first_step + index) * step, index * step,
                         row_vectors, K);
        }
    }

    if constexpr (x_is_shared)
        __syncthreads(); // x has been read, and its place is free
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int m = 2 * t + i % 2;
            if (m < x_rows)
                sums_smem[(warp * x_rows + m) * rows + tile * 16 + i / 2 * 8 + g] = sums[tile][i];
        }
    __syncthreads(); // every warp has written its sums
    for_elements(first_row, N, [&](int i, i64 index) {
        float sum = 0.0f;
#pragma unroll
        for (int other = 0; other < warps; ++other)
            sum += sums_smem[other * x_rows * rows + i];
        if constexpr (splits > 1)
            split_sums[static_cast<i64>(blockIdx.y) * x_rows * N + index] = sum;
        else
            store_y(y, index, sum);
    });

    if constexpr (combine_by_last_block)
        if (arrive_is_last_block(counters + blockIdx.x, splits))
            for_elements(first_row, N,
                         [&](int, i64 index) { add_splits(split_sums, y, index, N); });
}

extern "C" __global__ void __launch_bounds__(128)
    gemv_combine(const float *split_sums, element *y, int N) {
    if constexpr (combine_by_pdl)
        griddepcontrol_wait(); // for the sums of splits
    const i64 index = static_cast<i64>(blockIdx.x) * 128 + threadIdx.x;
    if (index < static_cast<i64>(x_rows) * N)
        add_splits(split_sums, y, index, N);
}
