// A sparse matrix in compressed rows times a vector:
//
//   y[r] = sum over i from row_start[r] to row_start[r + 1] - 1 of values[i] * x[columns[i]]
//
// METHOD rows: a block has equally many rows, whatever their lengths. The others give a block a
// tile of equally much work, and a second kernel adds up a row in several tiles, in the order of
// tiles, so that the same input gives the same bits. METHOD merge: TILE rows and elements together,
// in the order of the elements with the end of each row behind its last element. METHOD scan: TILE
// elements. With rows and merge LANES neighbouring threads sum a row; with scan a segmented prefix
// sum of all elements takes equally long for rows of any length.

#include "lib/pdl.cuh"
#include "lib/types.cuh"
#include "lib/vector.cuh"
#include "lib/warp.cuh"

// ---- Genes ----

#if !defined(METHOD) || !defined(THREADS) || !defined(LANES) || !defined(LOADS) ||                 \
    !defined(GROUP_ROWS) || !defined(ITEMS) || !defined(CACHE) || !defined(COMBINE)
#error "a gene of spmv_csr is not defined: see genes in solution.json"
#endif

constexpr int threads = THREADS;       // threads per block
constexpr int lanes = LANES;           // threads that sum a row
constexpr int loads = LOADS;           // elements of a thread whose loads are in flight at once
constexpr int group_rows = GROUP_ROWS; // rows of a group of lanes
constexpr int items = ITEMS;           // elements, or rows and elements, of a tile for each thread
constexpr bool by_merge = METHOD == METHOD_MERGE, by_scan = METHOD == METHOD_SCAN;
constexpr bool streaming = CACHE == CACHE_STREAMING; // loads of columns and values
constexpr bool combine_by_pdl = COMBINE == COMBINE_EARLY;

// ---- Derived sizes and shared memory ----

constexpr int groups = threads / lanes;
constexpr int tile = threads * items;
constexpr int chain = 1024; // additions to one float; longer chains round too much

constexpr int vectors = by_scan ? items / 4 : 1; // of a thread, of 4 elements
constexpr int warp_items = 32 * items;           // elements that a warp scans

static_assert(threads >= 64, "two warps search");
static_assert(!by_scan || items % 4 == 0, "elements are loaded by 4");

// The terms of a tile; with scan then their sums from the last row's start before each on.
__shared__ __align__(16) float terms_smem[METHOD == METHOD_ROWS ? 1 : tile];
__shared__ u32 starts_smem[by_scan ? tile / 32 : 1]; // a bit for each element that begins a row
__shared__ int bounds_smem[2];                       // the first row of this tile, and of the next

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

// How many rows end among the first `items_before` rows and elements together or, with scan,
// elements; found by a warp: each round keeps one of 32 parts. Before the first tile none does.
DEVICE int rows_before(const int *row_start, i64 items_before, int ROWS, int NONZEROS) {
    const int lane = threadIdx.x % 32;
    int low = by_merge && items_before > NONZEROS ? static_cast<int>(items_before - NONZEROS) : 0;
    int high = by_merge && items_before < ROWS ? static_cast<int>(items_before) : ROWS;
    if (items_before == 0)
        return 0;
    while (low < high) { // row r has ended if row_start[r + 1], by merge plus r + 1, is no more
        const int part = (high - low + 31) / 32;
        const i64 row = low + static_cast<i64>(lane) * part;
        const bool ended =
            row < high && row_start[row + 1] + (by_merge ? row + 1 : 0) <= items_before;
        const int count = __popc(__ballot_sync(full_warp_mask, ended));
        if (count == 0)
            break; // row `low` has not ended
        high = min_of(high, low + count * part);
        low += (count - 1) * part + 1;
    }
    return low;
}

// A tile: elements first to end - 1, the rows first_row to end_row - 1 that end in it, and the part
// of row end_row that is in it, which may be empty.
struct tile_bounds {
    int first, end, first_row, end_row;
};

// The elements of a row that are in a tile, counted from its first.
struct row_part {
    int from, to;
};

DEVICE row_part part_of_row(const int *row_start, int row, const tile_bounds &it, int ROWS) {
    if (row > it.end_row || row >= ROWS)
        return {0, 0};
    return {max_of(row_start[row], it.first) - it.first,
            min_of(row_start[row + 1], it.end) - it.first};
}

DEVICE void store_sum(float *y, float *tile_sum, int row, const tile_bounds &it, float sum) {
    if (row < it.end_row)
        y[row] = sum;
    if (row == it.end_row)
        tile_sum[blockIdx.x] = sum;
}

#if METHOD == METHOD_MERGE

// Terms come to shared memory in order.
DEVICE void load_terms(const int *columns, const float *values, const float *x, int first,
                       int count) {
    for (int start = threadIdx.x; start < count; start += threads * loads) {
        float terms[loads];
#pragma unroll
        for (int load = 0; load < loads; ++load) {
            const int i = start + load * threads;
            terms[load] = i < count ? values[first + i] * x[columns[first + i]] : 0.0f;
        }
#pragma unroll
        for (int load = 0; load < loads; ++load)
            if (start + load * threads < count)
                terms_smem[start + load * threads] = terms[load];
    }
}

// Rows that end in the tile, and behind them the part of one that does not.
DEVICE void sum_rows(const int *row_start, float *y, float *tile_sum, const tile_bounds &it,
                     int ROWS) {
    const int group = threadIdx.x / lanes, lane = threadIdx.x % lanes;
    for (int start = it.first_row; start <= it.end_row; start += groups) { // the same in a warp
        const row_part part = part_of_row(row_start, start + group, it, ROWS);
        const float sum = lanes_sum<lanes>(
            lane_sum(part.from, part.to, lane, [&](int i) { return terms_smem[i]; }));
        if (lane == 0)
            store_sum(y, tile_sum, start + group, it, sum);
    }
}

#elif METHOD == METHOD_SCAN

// The thread's vectors of a tile: in each round a warp has 128 neighbouring elements.
DEVICE int vector_at(int v) {
    return threadIdx.x / 32 * warp_items + v * 128 + threadIdx.x % 32 * 4;
}

template <typename element> DEVICE vector<element, 4> load_four(const element *from) {
    using four = vector<element, 4>;
    if constexpr (streaming)
        return __builtin_bit_cast(four, __ldcs(reinterpret_cast<const uint4 *>(from)));
    else
        return load_vector<4>(from);
}

// Loads the thread's elements of the tile; in the last tile those of the `left` that there are,
// element by element, and 0 for the others.
template <typename element>
DEVICE void load_elements(const element *tile_start, int left, vector<element, 4> (&own)[vectors]) {
    if (left >= tile) {
#pragma unroll
        for (int v = 0; v < vectors; ++v)
            own[v] = load_four(tile_start + vector_at(v));
        return;
    }
#pragma unroll
    for (int v = 0; v < vectors; ++v)
#pragma unroll
        for (int i = 0; i < 4; ++i)
            own[v].values[i] = vector_at(v) + i < left ? tile_start[vector_at(v) + i] : element(0);
}

// Sets the bit of each element that begins a row; the first one's row may begin before it.
DEVICE void mark_starts(const int *row_start, const tile_bounds &it, int ROWS) {
    for (int row = it.first_row + threadIdx.x; row <= it.end_row && row < ROWS; row += threads) {
        const int i = row_start[row] - it.first;
        if (i > 0 && i < it.end - it.first)
            atomicOr(&starts_smem[i / 32], 1u << i % 32);
    }
}

// Sums the warp's elements from the last start before each on, or from the warp's first element.
DEVICE void scan_terms(float (&terms)[vectors][4]) {
    const int lane = threadIdx.x % 32;
    float carry = 0.0f; // of the round before
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
        const int at = vector_at(v);
        const u32 starts = starts_smem[at / 32] >> at % 32 & 15;
        float(&sums)[4] = terms[v];
#pragma unroll
        for (int i = 1; i < 4; ++i)
            sums[i] += starts >> i & 1 ? 0.0f : sums[i - 1];
        const u32 before = __ballot_sync(full_warp_mask, starts != 0) & (2u << lane) - 1;
        const int open_lane = before != 0 ? 31 - __clz(before) : 0; // the first that is added
        float last = sums[3];
#pragma unroll
        for (int step = 1; step < 32; step *= 2) {
            const float other = __shfl_up_sync(full_warp_mask, last, step);
            last += lane - step >= open_lane ? other : 0.0f;
        }
        last += before == 0 ? carry : 0.0f;
        const float left = __shfl_up_sync(full_warp_mask, last, 1);
        const float added = lane == 0 ? carry : left;
#pragma unroll
        for (int i = 0; i < 4; ++i)
            sums[i] += (starts & (2u << i) - 1) == 0 ? added : 0.0f;
        carry = __shfl_sync(full_warp_mask, last, 31);
        store_vector<4>(&terms_smem[at], vector<float, 4>{{sums[0], sums[1], sums[2], sums[3]}});
    }
}

// The sum of a part is the last one's and, of each warp before that has elements of it, its last.
DEVICE void read_sums(const int *row_start, float *y, float *tile_sum, const tile_bounds &it,
                      int ROWS) {
    for (int row = it.first_row + threadIdx.x; row <= it.end_row; row += threads) {
        const row_part part = part_of_row(row_start, row, it, ROWS);
        float sum = part.to > part.from ? terms_smem[part.to - 1] : 0.0f;
        for (int w = part.from / warp_items + 1; w * warp_items < part.to; ++w)
            sum += terms_smem[w * warp_items - 1];
        store_sum(y, tile_sum, row, it, sum);
    }
}

#endif

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
    if constexpr (combine_by_pdl)
        griddepcontrol_launch_dependents();
    const i64 all = static_cast<i64>(by_merge ? ROWS : 0) + NONZEROS;
    const i64 first_item = static_cast<i64>(blockIdx.x) * tile;
    const i64 end_item = first_item + tile < all ? first_item + tile : all;
#if METHOD == METHOD_SCAN
    const int own = static_cast<int>(first_item), left = static_cast<int>(all - first_item);
    vector<int, 4> column[vectors];
    vector<float, 4> value[vectors]; // both are on their way during the search
    load_elements(columns + own, left, column);
    load_elements(values + own, left, value);
    if (t < tile / 32)
        starts_smem[t] = 0;
#endif
    if (warp < 2) {
        const int row = rows_before(row_start, warp == 0 ? first_item : end_item, ROWS, NONZEROS);
        if (t % 32 == 0)
            bounds_smem[warp] = row;
    }
#if METHOD == METHOD_SCAN
    float terms[vectors][4];
#pragma unroll
    for (int v = 0; v < vectors; ++v)
#pragma unroll
        for (int i = 0; i < 4; ++i) // where there is no element, 0 times an element of x
            terms[v][i] = x[column[v].values[i]];
#endif
    __syncthreads(); // both searches are done
    const int before = bounds_smem[0], end_row = bounds_smem[1];
    const tile_bounds it = {static_cast<int>(first_item - (by_merge ? before : 0)),
                            static_cast<int>(end_item - (by_merge ? end_row : 0)), before, end_row};
#if METHOD == METHOD_MERGE
    load_terms(columns, values, x, it.first, it.end - it.first);
    __syncthreads(); // the terms of the tile are in shared memory
    sum_rows(row_start, y, tile_sum, it, ROWS);
#else
    mark_starts(row_start, it, ROWS);
    __syncthreads(); // all starts are marked
#pragma unroll
    for (int v = 0; v < vectors; ++v)
#pragma unroll
        for (int i = 0; i < 4; ++i)
            terms[v][i] = vector_at(v) + i < left ? terms[v][i] * value[v].values[i] : 0.0f;
    scan_terms(terms);
    __syncthreads(); // the sums of the tile are in shared memory
    read_sums(row_start, y, tile_sum, it, ROWS);
#endif
    if (t == 0) {
        const bool ends_here = it.end_row > it.first_row && row_start[it.first_row] < it.first;
        ending_row[blockIdx.x] = ends_here ? it.first_row + 1 : 0;
        open_row[blockIdx.x] = it.end_row;
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
