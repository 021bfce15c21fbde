// A sparse matrix in compressed rows times a vector:
//
//   y[r] = sum over i from row_start[r] to row_start[r + 1] - 1 of values[i] * x[columns[i]]
//
// LANES neighbouring threads sum a row. METHOD rows: a block has equally many rows, whatever their
// lengths. METHOD merge: a block has a tile, TILE rows and elements together, in the order of the
// elements with the end of each row behind its last element; a row in several tiles is added up by
// a second kernel, in the order of tiles, so that the same input gives the same bits.

#include "lib/pdl.cuh"
#include "lib/types.cuh"
#include "lib/warp.cuh"

// ---- Genes ----

#if !defined(METHOD) || !defined(THREADS) || !defined(LANES) || !defined(LOADS) ||                 \
    !defined(GROUP_ROWS) || !defined(ITEMS) || !defined(COMBINE)
#error "a gene of spmv_csr is not defined: see genes in solution.json"
#endif

constexpr int threads = THREADS;       // threads per block
constexpr int lanes = LANES;           // threads that sum a row
constexpr int loads = LOADS;           // elements of a thread whose loads are in flight at once
constexpr int group_rows = GROUP_ROWS; // rows of a group of lanes
constexpr int items = ITEMS;           // rows and elements of a tile for each thread
constexpr bool by_merge = METHOD == METHOD_MERGE;
constexpr bool combine_by_pdl = by_merge && COMBINE == COMBINE_EARLY;

// ---- Derived sizes and shared memory ----

constexpr int groups = threads / lanes;
constexpr int tile = threads * items;
constexpr int chain = 1024; // additions to one float; longer chains round too much

static_assert(threads >= 64, "two warps search");

__shared__ float terms_smem[by_merge ? tile : 1];
__shared__ int bounds_smem[2]; // the first row of this tile, and of the next

// ---- Steps ----

// This lane's part of the sum of elements first to end - 1 of what `term` gives, in chains.
template <typename term_of> DEVICE float lane_sum(int first, int end, int lane, term_of term) {
    constexpr int stride = lanes * loads;
    float sum = 0.0f;
    for (i64 start = first; start < end; start += stride * chain) {
        const i64 chain_end = start + stride * chain < end ? start + stride * chain : end;
        float own = 0.0f;
        for (i64 i = start + lane; i < chain_end; i += stride) {
            float terms[loads];
#pragma unroll
            for (int load = 0; load < loads; ++load)
                terms[load] =
                    i + load * lanes < chain_end ? term(static_cast<int>(i) + load * lanes) : 0.0f;
#pragma unroll
            for (int load = 0; load < loads; ++load)
                own += terms[load];
        }
        sum += own;
    }
    return sum;
}

// How many rows end among the first `items_before` rows and elements, found by a warp: each round
// keeps one of 32 parts.
DEVICE int rows_before(const int *row_start, i64 items_before, int ROWS, int NONZEROS) {
    const int lane = threadIdx.x % 32;
    int low = items_before > NONZEROS ? static_cast<int>(items_before - NONZEROS) : 0;
    int high = items_before < ROWS ? static_cast<int>(items_before) : ROWS;
    while (low < high) { // row r has ended if row_start[r + 1] + r + 1 <= items_before
        const int part = (high - low + 31) / 32;
        const i64 row = low + static_cast<i64>(lane) * part;
        const bool ended = row < high && row_start[row + 1] + row + 1 <= items_before;
        const int count = __popc(__ballot_sync(full_warp_mask, ended));
        if (count == 0)
            break; // row `low` has not ended
        high = min_of(high, low + count * part);
        low += (count - 1) * part + 1;
    }
    return low;
}

// ---- The schedule ----

#if METHOD == METHOD_ROWS

extern "C" __global__ void __launch_bounds__(threads)
    spmv_rows(const int *__restrict__ row_start, const int *__restrict__ columns,
              const float *__restrict__ values, const float *__restrict__ x, float *__restrict__ y,
              int ROWS) {
    const int group = threadIdx.x / lanes, lane = threadIdx.x % lanes;
#pragma unroll
    for (int i = 0; i < group_rows; ++i) {
        const i64 row = (static_cast<i64>(blockIdx.x) * group_rows + i) * groups + group;
        int first = 0, end = 0;
        if (row < ROWS) {
            first = row_start[row];
            end = row_start[row + 1];
        }
        const float sum = lanes_sum<lanes>(
            lane_sum(first, end, lane, [&](int i) { return values[i] * x[columns[i]]; }));
        if (row < ROWS && lane == 0)
            y[row] = sum;
    }
}

#else

extern "C" __global__ void __launch_bounds__(threads)
    spmv_tiles(const int *__restrict__ row_start, const int *__restrict__ columns,
               const float *__restrict__ values, const float *__restrict__ x, float *y,
               int *ending_row, int *open_row, float *tile_sum, int ROWS, int NONZEROS) {
    const int t = threadIdx.x, warp = t / 32;
    const int group = t / lanes, lane = t % lanes;
    if constexpr (combine_by_pdl)
        griddepcontrol_launch_dependents();
    const i64 all = static_cast<i64>(ROWS) + NONZEROS;
    const i64 first_item = static_cast<i64>(blockIdx.x) * tile;
    const i64 end_item = first_item + tile < all ? first_item + tile : all;
    if (warp < 2) {
        const int row = rows_before(row_start, warp == 0 ? first_item : end_item, ROWS, NONZEROS);
        if (t % 32 == 0)
            bounds_smem[warp] = row;
    }
    __syncthreads(); // both searches are done
    const int first_row = bounds_smem[0], end_row = bounds_smem[1];
    const int first = static_cast<int>(first_item - first_row),
              end = static_cast<int>(end_item - end_row);

    for (int start = t; start < end - first; start += threads * loads) {
        float terms[loads];
#pragma unroll
        for (int load = 0; load < loads; ++load) {
            const int i = start + load * threads;
            terms[load] = i < end - first ? values[first + i] * x[columns[first + i]] : 0.0f;
        }
#pragma unroll
        for (int load = 0; load < loads; ++load)
            if (start + load * threads < end - first)
                terms_smem[start + load * threads] = terms[load];
    }
    __syncthreads(); // the terms of the tile are in shared memory

    // Rows that end in this tile, and behind them the part of one that does not.
    const int rows = end_row - first_row + 1;
    for (int start = 0; start < rows; start += groups) { // the same for all lanes of a warp
        const int row = first_row + start + group;
        int from = 0, to = 0;
        if (row <= end_row && row < ROWS) {
            from = max_of(row_start[row], first) - first;
            to = min_of(row_start[row + 1], end) - first;
        }
        const float sum =
            lanes_sum<lanes>(lane_sum(from, to, lane, [&](int i) { return terms_smem[i]; }));
        if (lane == 0 && row < end_row)
            y[row] = sum;
        if (lane == 0 && row == end_row)
            tile_sum[blockIdx.x] = sum;
    }
    if (t == 0) {
        const bool ends_here = end_row > first_row && row_start[first_row] < first;
        ending_row[blockIdx.x] = ends_here ? first_row + 1 : 0;
        open_row[blockIdx.x] = end_row;
    }
}

// A warp for each tile: if a row of earlier tiles ends in it, adds their parts.
extern "C" __global__ void __launch_bounds__(128)
    spmv_add_parts(float *y, const int *ending_row, const int *open_row, const float *tile_sum,
                   int tiles) {
    if constexpr (combine_by_pdl)
        griddepcontrol_wait(); // for the sums of tiles
    const int own = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (own >= tiles)
        return;
    const int row = ending_row[own] - 1;
    if (row < 0)
        return;
    float sum = 0.0f;
    for (int other = own - 1 - lane; other >= 0 && open_row[other] == row; other -= 32)
        sum += tile_sum[other];
    sum = lanes_sum<32>(sum);
    if (lane == 0)
        y[row] += sum;
}

#endif
