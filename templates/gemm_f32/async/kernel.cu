// C = A B in float, without tensor cores:  c[m][n] = sum over k of a[m][k] b[k][n].
//
//   a [M, K]   b [K, N]   c [M, N]   row-major
//
// A block computes a tile of C, a thread a register tile of it. Tiles of A and B come to shared
// memory by asynchronous copies, STAGES - 1 ahead of the multiplication, and from there to
// registers one step of the sum ahead. SPLITS blocks may share the sum of a tile; a second kernel
// then adds their parts. README.md has the data flow.

#include "lib/cp_async.cuh"
#include "lib/pdl.cuh"
#include "lib/smem.cuh"
#include "lib/tile_order.cuh"
#include "lib/types.cuh"
#include "lib/vector.cuh"

// ---- Genes ----

#if !defined(BLOCK_M) || !defined(BLOCK_N) || !defined(BLOCK_K) || !defined(THREAD_M) ||           \
    !defined(THREAD_N) || !defined(LANES_M) || !defined(STAGES) || !defined(UNROLL) ||             \
    !defined(GROUP) || !defined(SPLITS) || !defined(COMBINE) || !defined(MIN_CTAS)
#error "a gene of gemm_f32 is not defined: see genes in solution.json"
#endif

constexpr int block_m = BLOCK_M, block_n = BLOCK_N, block_k = BLOCK_K;
constexpr int thread_m = THREAD_M, thread_n = THREAD_N; // of C per thread
constexpr int lanes_m = LANES_M, lanes_n = 32 / LANES_M;
constexpr int stages = STAGES;
constexpr int unroll = UNROLL;
constexpr int group = GROUP; // rows of blocks that run together
constexpr int splits = SPLITS;
constexpr bool combine_by_pdl = splits > 1 && COMBINE == COMBINE_EARLY;

// ---- Derived sizes and shared memory ----

constexpr int threads_m = block_m / thread_m, threads_n = block_n / thread_n;
constexpr int threads = threads_m * threads_n;
constexpr int width = 4; // elements per vector

static_assert(threads_m % lanes_m == 0 && threads_n % lanes_n == 0, "whole warps");
static_assert(threads * width >= block_n, "the threads copy whole rows of a tile");

static_assert(thread_m % width == 0 && thread_n % width == 0, "fragments are whole vectors");
static_assert(block_k % (width * unroll) == 0, "a stage is a whole number of unrolled runs");

// A tile of A, column by column, so that a fragment of rows is a vector. A copy moves one element,
// and eight lanes a sector of a row; four elements of padding keep those lanes in different banks.
struct tile_of_a {
    static constexpr int pitch = block_m + 4, lanes_k = 8, pass_rows = threads / lanes_k;
    float elements[block_k * pitch];

    // Begins to copy the tile from column first_k on. Rows past the end repeat the last one: their
    // sums are not stored. Columns at or past K become zeros, unless the tile is `whole`.
    template <bool whole>
    DEVICE void copy(const float *a, int first_row, int first_k, int M, int K) {
        const int k = threadIdx.x % lanes_k, thread_row = threadIdx.x / lanes_k;
        const char *from_k = reinterpret_cast<const char *>(a + first_k + k);
        const u32 to = smem_address(elements + k * pitch + thread_row);
#pragma unroll
        for (int pass = 0; pass < block_m; pass += pass_rows) {
            if (block_m % pass_rows != 0 && pass + thread_row >= block_m)
                break;
            const int row = min(first_row + pass + thread_row, M - 1);
            const char *from = from_k + static_cast<i64>(row) * (4 * K);
#pragma unroll
            for (int more = 0; more < block_k; more += lanes_k) {
                const bool inside = whole || first_k + k + more < K;
                const char *source = inside ? from + 4 * more : reinterpret_cast<const char *>(a);
                cp_async_4(to + 4 * (more * pitch + pass), source, inside);
            }
        }
    }
};

// A tile of B, row by row.
struct tile_of_b {
    float elements[block_k * block_n];

    // Begins to copy the tile from row first_k on. Columns past the end repeat earlier ones.
    // Aligned rows are copied in vectors.
    template <bool whole>
    DEVICE void copy(const float *b, int first_k, int first_column, int K, int N) {
        if (N % width == 0)
            copy_vectors<whole, width>(b, first_k, first_column, K, N);
        else
            copy_vectors<whole, 1>(b, first_k, first_column, K, N);
    }

    template <bool whole, int copied>
    DEVICE void copy_vectors(const float *b, int first_k, int first_column, int K, int N) {
        constexpr int row_threads = min_of(threads, block_n / copied);
        constexpr int pass_rows = threads / row_threads;
        const int thread_k = threadIdx.x / row_threads;
        const int thread_column = threadIdx.x % row_threads * copied;
        const u32 to = smem_address(elements + thread_k * block_n + thread_column);
#pragma unroll
        for (int more = 0; more < block_n; more += row_threads * copied) {
            const int column = min(first_column + thread_column + more, N - copied);
            const char *from_column = reinterpret_cast<const char *>(b + column);
#pragma unroll
            for (int pass = 0; pass < block_k; pass += pass_rows) {
                if (block_k % pass_rows != 0 && pass + thread_k >= block_k)
                    break;
                const int k = first_k + pass + thread_k;
                const bool inside = whole || k < K;
                const char *from = from_column + static_cast<i64>(inside ? k : 0) * (4 * N);
                const u32 to_k = to + 4 * (pass * block_n + more);
                if (copied == width)
                    cp_async_16(to_k, from, inside);
                else
                    cp_async_4(to_k, from, inside);
            }
        }
    }
};

struct stage {
    tile_of_a a;
    tile_of_b b;
};

// What a thread multiplies in one step of the sum.
struct fragments {
    vector<float, width> a[thread_m / width], b[thread_n / width];

    // A thread has every threads_m-th vector of rows and every threads_n-th vector of columns, so
    // that the lanes of a warp read neighbouring vectors.
    DEVICE void load(const stage &staged, int k, int row, int column) {
        const float *from_a = staged.a.elements + k * tile_of_a::pitch + row;
        const float *from_b = staged.b.elements + k * block_n + column;
#pragma unroll
        for (int i = 0; i < thread_m / width; ++i)
            a[i] = load_vector<width>(from_a + i * threads_m * width);
#pragma unroll
        for (int j = 0; j < thread_n / width; ++j)
            b[j] = load_vector<width>(from_b + j * threads_n * width);
    }
};

extern __shared__ uint4 stages_smem[];

// ---- Steps ----

DEVICE void multiply(float (&sums)[thread_m][thread_n], const fragments &step) {
#pragma unroll
    for (int i = 0; i < thread_m; ++i)
#pragma unroll
        for (int j = 0; j < thread_n; ++j)
            sums[i][j] += step.a[i / width].values[i % width] * step.b[j / width].values[j % width];
}

// Stores rows of at most `columns` elements, `pitch` apart.
DEVICE void store(const float (&sums)[thread_m][thread_n], float *c, int first_row,
                  int first_column, int M, int columns, int pitch) {
#pragma unroll
    for (int i = 0; i < thread_m; ++i) {
        const int row = first_row + i / width * threads_m * width + i % width;
        if (row >= M)
            break;
#pragma unroll
        for (int j = 0; j < thread_n; j += width) {
            const int column = first_column + j * threads_n;
            float *to = c + static_cast<i64>(row) * pitch + column;
            if (pitch % width == 0) {
                if (column < columns)
                    store_vector<width>(
                        to, {sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]});
                continue;
            }
#pragma unroll
            for (int e = 0; e < width; ++e)
                if (column + e < columns)
                    to[e] = sums[i][j + e];
        }
    }
}

// ---- The schedule ----

extern "C" __global__ void __launch_bounds__(threads, MIN_CTAS)
    gemm(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int M,
         int N, int K) {
    stage *staged = reinterpret_cast<stage *>(stages_smem);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    // Quads of two by two lanes: then each half of a warp reads at most 128 different bytes of A
    // and of B at once, where a row of lanes would take twice as many cycles for B.
    const int lane_m = lane / 4 / (lanes_n / 2) * 2 + lane / 2 % 2;
    const int lane_n = lane / 4 % (lanes_n / 2) * 2 + lane % 2;
    const int row = (warp / (threads_n / lanes_n) * lanes_m + lane_m) * width;
    const int column = (warp % (threads_n / lanes_n) * lanes_n + lane_n) * width;
    const int steps = ceil_div(ceil_div(K, block_k), splits);
    const int first_k = static_cast<int>(blockIdx.y) * steps * block_k;
    const tile_place tile =
        place_of_tile(blockIdx.x, ceil_div(M, block_m), ceil_div(N, block_n), group);
    if constexpr (combine_by_pdl)
        griddepcontrol_launch_dependents();

    auto copy_step = [&](int step) {
        const int k = first_k + step * block_k;
        stage &to = staged[step % stages];
        if (step < steps && k + block_k <= K) {
            to.a.copy<true>(a, tile.m * block_m, k, M, K);
            to.b.copy<true>(b, k, tile.n * block_n, K, N);
        } else if (step < steps) {
            to.a.copy<false>(a, tile.m * block_m, k, M, K);
            to.b.copy<false>(b, k, tile.n * block_n, K, N);
        }
        cp_async_commit(); // perhaps of nothing, so that one group is one step
    };
    float sums[thread_m][thread_n] = {};
#pragma unroll
    for (int step = 0; step < stages - 1; ++step)
        copy_step(step);
    cp_async_wait<stages - 2>();
    __syncthreads();     // the first step is staged
    fragments loaded[2]; // the step of the sum that is multiplied, and the next one
    loaded[0].load(staged[0], 0, row, column);

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
                    next.load(here, k + i + 1, row, column);
                } else if (step + 1 < steps) {
                    cp_async_wait<stages - 2>();
                    __syncthreads(); // the next step is staged, and this one has been read
                    next.load(staged[(step + 1) % stages], 0, row, column);
                }
                multiply(sums, loaded[i % 2]);
            }
        }
    }
    // Parts of a sum have rows of whole vectors, so that they are stored as such.
    const int pitch = splits > 1 ? ceil_div(N, width) * width : N;
    store(sums, c + static_cast<i64>(blockIdx.y) * M * pitch, tile.m * block_m + row,
          tile.n * block_n + column, M, N, pitch);
}

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
