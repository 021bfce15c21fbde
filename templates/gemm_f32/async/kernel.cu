// C = A B in float, without tensor cores:  c[m][n] = sum over k of a[m][k] b[k][n].
//
//   a [M, K]   b [K, N]   c [M, N]   row-major
//
// A block computes a tile of C, a thread a register tile of it. Tiles of A and B come to shared
// memory by asynchronous copies, STAGES - 1 ahead of the multiplication, and from there to
// registers one step of the sum ahead. Blocks may share the sum of a tile, SPLITS of them, or with
// SCHEDULE stream_k as many as makes the shares of all blocks equal; a second kernel then adds
// their parts. README.md has the data flow.

#include "lib/cp_async.cuh"
#include "lib/pdl.cuh"
#include "lib/smem.cuh"
#include "lib/types.cuh"
#include "lib/vector.cuh"

// ---- Genes ----

#if !defined(BLOCK_M) || !defined(BLOCK_N) || !defined(BLOCK_K) || !defined(THREAD_M) ||           \
    !defined(THREAD_N) || !defined(LANES_M) || !defined(STAGES) || !defined(UNROLL) ||             \
    !defined(ORDER) || !defined(GROUP) || !defined(SCHEDULE) || !defined(SPLITS) ||                \
    !defined(COMBINE) || !defined(MIN_CTAS)
#error "a gene of gemm_f32 is not defined: see genes in solution.json"
#endif

constexpr int block_m = BLOCK_M, block_n = BLOCK_N, block_k = BLOCK_K;
constexpr int thread_m = THREAD_M, thread_n = THREAD_N; // of C per thread
constexpr int lanes_m = LANES_M, lanes_n = 32 / LANES_M;
constexpr int stages = STAGES;
constexpr int unroll = UNROLL;
constexpr bool along_rows = ORDER == ORDER_ROWS;
constexpr int group = GROUP; // rows of blocks that run together
constexpr int splits = SPLITS;
constexpr bool by_stream_k = SCHEDULE == SCHEDULE_STREAM_K;
constexpr bool combine_by_pdl = (splits > 1 || by_stream_k) && COMBINE == COMBINE_EARLY;

// ---- Derived sizes and shared memory ----

constexpr int threads_m = block_m / thread_m, threads_n = block_n / thread_n;
constexpr int threads = threads_m * threads_n;
constexpr int width = 4; // elements per vector

static_assert(threads_m % lanes_m == 0 && threads_n % lanes_n == 0, "whole warps");
static_assert(threads * width >= block_n, "the threads copy whole rows of a tile");

static_assert(thread_m % width == 0 && thread_n % width == 0, "fragments are whole vectors");
static_assert(block_k % (width * unroll) == 0, "a stage is a whole number of unrolled runs");

#include "stages.cuh" // stage, fragments

extern __shared__ uint4 stages_smem[];

// ---- Steps ----

// Where a tile begins in C. GROUP rows of tiles are taken column by column.
struct place {
    int row, column;
};

DEVICE place place_of_tile(int tile, int M, int N) {
    const int tiles_m = ceil_div(M, block_m), tiles_n = ceil_div(N, block_n);
    const int first_m = tile / (group * tiles_n) * group;
    const int height = min(group, tiles_m - first_m), within = tile - first_m * tiles_n;
    return {(first_m + within % height) * block_m, within / height * block_n};
}

// Where the thread's first vectors of rows and columns are in a tile.
DEVICE place place_of_thread() {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    // Quads of two by two lanes: then each half of a warp reads at most 128 different bytes of A
    // and of B at once, where a row of lanes would take twice as many cycles for B.
    const int lane_m = lane / 4 / (lanes_n / 2) * 2 + lane / 2 % 2;
    const int lane_n = lane / 4 % (lanes_n / 2) * 2 + lane % 2;
    return {(warp / (threads_n / lanes_n) * lanes_m + lane_m) * width,
            (warp % (threads_n / lanes_n) * lanes_n + lane_n) * width};
}

// In an order in which one factor changes from each multiply-add to the next: to and fro along rows
// of sums, or along columns. The factor that stays is not read from the register file again, which
// provides one register of each of two banks in a cycle.
DEVICE void multiply(float (&sums)[thread_m][thread_n], const fragments &step) {
    constexpr int lines = along_rows ? thread_m : thread_n, length = thread_m * thread_n / lines;
#pragma unroll
    for (int line = 0; line < lines; ++line)
#pragma unroll
        for (int at = 0; at < length; ++at) {
            const int place = line % 2 != 0 ? length - 1 - at : at;
            const int i = along_rows ? line : place, j = along_rows ? place : line;
            sums[i][j] += step.a[i / width].values[i % width] * step.b[j / width].values[j % width];
        }
}

// The sum, by an instruction between its register and that of a vector. If a vector of sums is
// stored as it is, the compiler keeps sums in four neighbouring registers during the whole loop,
// each in the register bank of its factor of B. `zero` is a number that it does not know.
DEVICE float apart(float sum, int zero) {
    return __int_as_float(__float_as_int(sum) ^ zero);
}

// Stores rows of at most `columns` elements, `pitch` apart.
DEVICE void store(const float (&sums)[thread_m][thread_n], float *c, int first_row,
                  int first_column, int M, int columns, int pitch) {
    const int zero = M >> 31;
#pragma unroll
    for (int i = 0; i < thread_m; ++i) {
        const int row = first_row + i / width * threads_m * width + i % width;
        if (row >= M)
            break;
#pragma unroll
        for (int j = 0; j < thread_n; j += width) {
            const int column = first_column + j * threads_n;
            float *to = c + static_cast<i64>(row) * pitch + column;
            vector<float, width> four;
#pragma unroll
            for (int e = 0; e < width; ++e)
                four.values[e] = apart(sums[i][j + e], zero);
            if (pitch % width == 0) {
                if (column < columns)
                    store_vector<width>(to, four);
                continue;
            }
#pragma unroll
            for (int e = 0; e < width; ++e)
                if (column + e < columns)
                    to[e] = four.values[e];
        }
    }
}

// Sums `steps` stages of a tile from column first_k of A on; beyond K there are zeros.
DEVICE void sum_tile(float (&sums)[thread_m][thread_n], const float *a, const float *b, place tile,
                     place own, int first_k, int steps, int M, int N, int K) {
    stage *staged = reinterpret_cast<stage *>(stages_smem);
    auto copy_step = [&](int step) {
        const int k = first_k + step * block_k;
        stage &to = staged[step % stages];
        if (step < steps && k + block_k <= K) {
            to.a.copy<true>(a, tile.row, k, M, K);
            to.b.copy<true>(b, k, tile.column, K, N);
        } else if (step < steps) {
            to.a.copy<false>(a, tile.row, k, M, K);
            to.b.copy<false>(b, k, tile.column, K, N);
        }
        cp_async_commit(); // perhaps of nothing, so that one group is one step
    };
#pragma unroll
    for (int step = 0; step < stages - 1; ++step)
        copy_step(step);
    cp_async_wait<stages - 2>();
    __syncthreads();     // the first step is staged
    fragments loaded[2]; // the step of the sum that is multiplied, and the next one
    loaded[0].load(staged[0], 0, own.row, own.column);

    constexpr int run = width * unroll; // steps of the sum that are unrolled
    for (int step = 0; step < steps; ++step) {
        copy_step(step + stages - 1);
        const stage &here = staged[step % stages];
#pragma unroll 1
        for (int k = 0; k < block_k; k += run) {
#pragma unroll
            for (int i = 0; i < run; ++i) {
                fragments &next = loaded[(i + 1) % 2];
                if (i + 1 < run || k + run < block_k) {
                    next.load(here, k + i + 1, own.row, own.column);
                } else if (step + 1 < steps) {
                    cp_async_wait<stages - 2>();
                    __syncthreads(); // the next step is staged, and this one has been read
                    next.load(staged[(step + 1) % stages], 0, own.row, own.column);
                }
                multiply(sums, loaded[i % 2]);
            }
        }
    }
}

// ---- Stream-K ----

// The last SHARED_TILES of the sums of tiles are divided into equal shares, one a block; the tiles
// before them are whole rounds of all blocks. A unit is one stage of a tile. A share of less than
// two tiles has at most two parts of tiles, and the second one begins a tile.
struct shares {
    i64 units; // at least as many as blocks
    int blocks;

    DEVICE i64 first(int block) const {
        return units * block / blocks;
    }

    DEVICE int block_of(i64 unit) const { // the last one whose share begins at it or before
        return static_cast<int>(((unit + 1) * blocks - 1) / units);
    }
};

// Where a block has the part of the tile that its share begins with, or else of the last one. Parts
// are stored as tiles of C are, in rows of block_n elements.
DEVICE float *part_of(float *parts, int block, bool begins_tile) {
    return parts + static_cast<i64>(2 * block + begins_tile) * (block_m * block_n);
}

DEVICE void add_part(float (&sums)[thread_m][thread_n], const float *part, place own) {
#pragma unroll
    for (int i = 0; i < thread_m; ++i)
#pragma unroll
        for (int j = 0; j < thread_n; j += width) {
            const int row = own.row + i / width * threads_m * width + i % width;
            const vector<float, width> four =
                load_vector<width>(part + row * block_n + own.column + j * threads_n);
#pragma unroll
            for (int e = 0; e < width; ++e)
                sums[i][j + e] += four.values[e];
        }
}

// ---- The schedule ----

#if SCHEDULE == SCHEDULE_STREAM_K

extern "C" __global__ void __launch_bounds__(threads, MIN_CTAS)
    gemm(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c,
         float *__restrict__ parts, int M, int N, int K, int SHARED_TILES) {
    const place own = place_of_thread();
    const int tiles = ceil_div(M, block_m) * ceil_div(N, block_n), steps = ceil_div(K, block_k);
    const shares all = {static_cast<i64>(SHARED_TILES) * steps, static_cast<int>(gridDim.x)};
    const i64 unit = all.first(blockIdx.x);
    if constexpr (combine_by_pdl)
        griddepcontrol_launch_dependents();
    int tile = static_cast<int>(unit / steps), first = static_cast<int>(unit % steps);
    int left = static_cast<int>(all.first(blockIdx.x + 1) - unit); // steps of the share
    for (int next_tile = SHARED_TILES + blockIdx.x; left > 0 || next_tile < tiles;) {
        if (left == 0) { // a whole tile is the next share
            tile = next_tile;
            left = steps;
            next_tile += gridDim.x;
        }
        const int count = min(steps - first, left);
        float sums[thread_m][thread_n] = {};
        sum_tile(sums, a, b, place_of_tile(tile, M, N), own, first * block_k, count, M, N, K);
        const bool whole = count == steps;
        const place at = whole ? place_of_tile(tile, M, N) : place{0, 0};
        store(sums, whole ? c : part_of(parts, blockIdx.x, first == 0), at.row + own.row,
              at.column + own.column, whole ? M : block_m, whole ? N : block_n,
              whole ? N : block_n);
        left -= count;
        first = 0;
        ++tile;
        __syncthreads(); // the stages have been read
    }
}

// A block for each tile of which several blocks have parts: adds them, in the order of blocks.
extern "C" __global__ void __launch_bounds__(threads)
    gemm_add_parts(float *parts, float *__restrict__ c, int M, int N, int K, int SHARED_TILES,
                   int blocks) {
    const i64 steps = ceil_div(K, block_k);
    const shares all = {SHARED_TILES * steps, blocks};
    const int tile = blockIdx.x;
    if constexpr (combine_by_pdl)
        griddepcontrol_wait(); // for the parts
    if (tile >= SHARED_TILES)
        return;
    const int first = all.block_of(tile * steps), last = all.block_of((tile + 1) * steps - 1);
    if (first == last) // which has stored the tile
        return;
    const place own = place_of_thread(), at = place_of_tile(tile, M, N);
    float sums[thread_m][thread_n] = {};
    add_part(sums, part_of(parts, first, true), own);
#pragma unroll 1
    for (int block = first + 1; block <= last; ++block)
        add_part(sums, part_of(parts, block, false), own);
    store(sums, c, at.row + own.row, at.column + own.column, M, N, N);
}

#else

extern "C" __global__ void __launch_bounds__(threads, MIN_CTAS)
    gemm(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int M,
         int N, int K) {
    const place own = place_of_thread(), at = place_of_tile(blockIdx.x, M, N);
    const int steps = ceil_div(ceil_div(K, block_k), splits);
    if constexpr (combine_by_pdl)
        griddepcontrol_launch_dependents();
    float sums[thread_m][thread_n] = {};
    sum_tile(sums, a, b, at, own, static_cast<int>(blockIdx.y) * steps * block_k, steps, M, N, K);
    // Parts of a sum have rows of whole vectors, so that they are stored as such.
    const int pitch = splits > 1 ? ceil_div(N, width) * width : N;
    store(sums, c + static_cast<i64>(blockIdx.y) * M * pitch, at.row + own.row,
          at.column + own.column, M, N, pitch);
}

#endif

// c[m][n] = the sum over all splits of partial_c[split][m][n], whose rows are whole vectors. A
// thread adds up a vector, or where rows of C are not aligned as many elements, 256 apart.
#if SPLITS > 1
constexpr int combine_threads = 256;

extern "C" __global__ void __launch_bounds__(combine_threads)
    gemm_combine(const float *__restrict__ partial_c, float *__restrict__ c, int M, int N) {
    const int pitch = ceil_div(N, width) * width;
    const i64 count = static_cast<i64>(M) * N, part = static_cast<i64>(M) * pitch;
    const i64 first_of_block = static_cast<i64>(blockIdx.x) * combine_threads * width;
    if constexpr (combine_by_pdl)
        griddepcontrol_wait(); // for the parts
    if (pitch == N) {
        const i64 i = first_of_block + threadIdx.x * width;
        vector<float, width> sum = {};
        if (i >= count)
            return;
#pragma unroll
        for (int split = 0; split < splits; ++split) {
            const vector<float, width> addend = load_vector<width>(partial_c + split * part + i);
#pragma unroll
            for (int e = 0; e < width; ++e)
                sum.values[e] += addend.values[e];
        }
        store_vector<width>(c + i, sum);
        return;
    }
#pragma unroll
    for (int e = 0; e < width; ++e) {
        const i64 i = first_of_block + e * combine_threads + threadIdx.x;
        if (i >= count)
            return;
        const u32 row = static_cast<u32>(i) / N; // of 32 bits, which hold i and divide fast
        const float *from = partial_c + i + static_cast<i64>(row) * (pitch - N);
        float sum = 0;
#pragma unroll
        for (int split = 0; split < splits; ++split)
            sum += from[split * part];
        c[i] = sum;
    }
}
#endif
