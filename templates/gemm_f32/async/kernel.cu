// C = A B in float, without tensor cores:  c[m][n] = sum over k of a[m][k] b[k][n].
//
//   a [M, K]   b [K, N]   c [M, N]   row-major
//
// A block computes a tile of C, a thread a register tile of it. Tiles of A and B come to shared
// memory by asynchronous copies, STAGES - 1 ahead of the multiplication. SPLITS blocks may share
// the sum of a tile; a second kernel then adds their parts. README.md has the data flow.

#include "lib/cp_async.cuh"
#include "lib/pdl.cuh"
#include "lib/smem.cuh"
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

// A tile of `rows` by `columns` elements in shared memory. Four elements of padding keep vectors of
// eight rows in different banks.
template <int rows, int columns, int padding> struct staged_tile {
    static constexpr int pitch = columns + padding;
    static constexpr int row_vectors = columns / width, pass_rows = threads / row_vectors;
    float elements[rows * pitch];

    DEVICE vector<float, width> at(int row, int column) const {
        return load_vector<width>(elements + row * pitch + column);
    }

    // Begins to copy the tile whose first element is (first_row, first_column) of a matrix with
    // rows of `row_length`; elements at or past row_end and column_end become zeros. Rows that are
    // aligned are copied in vectors; of others neighbouring threads copy neighbouring elements.
    DEVICE void copy(const float *matrix, int first_row, int first_column, int row_end,
                     int column_end, int row_length) {
        const int in_row = threadIdx.x % row_vectors;
#pragma unroll
        for (int pass = 0; pass < rows; pass += pass_rows) {
            const int row = pass + threadIdx.x / row_vectors;
            if (rows % pass_rows != 0 && row >= rows)
                break;
            const float *from =
                matrix + static_cast<i64>(first_row + row) * row_length + first_column;
            const int length = first_row + row < row_end ? column_end - first_column : 0;
            const u32 to = smem_address(elements + row * pitch);
            if (row_length % width == 0) {
                const int column = in_row * width;
                const bool inside = column < length;
                cp_async_16(to + 4 * column, inside ? from + column : matrix, inside);
                continue;
            }
#pragma unroll
            for (int column = in_row; column < columns; column += row_vectors) {
                const bool inside = column < length;
                cp_async_4(to + 4 * column, inside ? from + column : matrix, inside);
            }
        }
    }
};

struct stage {
    staged_tile<block_m, block_k, 4> a;
    staged_tile<block_k, block_n, 0> b;
};

extern __shared__ uint4 stages_smem[];

// ---- Steps ----

// The place of a block's tile among all. GROUP rows of tiles are taken column by column.
DEVICE void pick_tile(int &tile_m, int &tile_n, int M, int N) {
    const int tiles_m = ceil_div(M, block_m), tiles_n = ceil_div(N, block_n);
    const int first_m = static_cast<int>(blockIdx.x) / (group * tiles_n) * group;
    const int height = min(group, tiles_m - first_m);
    const int within = static_cast<int>(blockIdx.x) - first_m * tiles_n;
    tile_m = first_m + within % height;
    tile_n = within / height;
}

// Adds the product of the staged tiles. A thread has every threads_m-th row of the block, so that
// the lanes of a warp read neighbouring rows of A, and every threads_n-th vector of columns.
DEVICE void multiply(float (&sums)[thread_m][thread_n], const stage &staged, int row, int column) {
#pragma unroll unroll
    for (int first_k = 0; first_k < block_k; first_k += width) {
        vector<float, width> a[thread_m];
#pragma unroll
        for (int i = 0; i < thread_m; ++i)
            a[i] = staged.a.at(row + i * threads_m, first_k);
#pragma unroll
        for (int k = 0; k < width; ++k) {
            vector<float, width> b[thread_n / width];
#pragma unroll
            for (int j = 0; j < thread_n / width; ++j)
                b[j] = staged.b.at(first_k + k, (j * threads_n + column) * width);
#pragma unroll
            for (int i = 0; i < thread_m; ++i)
#pragma unroll
                for (int j = 0; j < thread_n; ++j)
                    sums[i][j] += a[i].values[k] * b[j / width].values[j % width];
        }
    }
}

DEVICE void store(const float (&sums)[thread_m][thread_n], float *c, int first_row,
                  int first_column, int M, int N) {
#pragma unroll
    for (int i = 0; i < thread_m; ++i) {
        const int row = first_row + i * threads_m;
        if (row >= M)
            break;
#pragma unroll
        for (int j = 0; j < thread_n; j += width) {
            const int column = first_column + j * threads_n;
            float *to = c + static_cast<i64>(row) * N + column;
            if (N % width == 0) {
                if (column < N)
                    store_vector<width>(
                        to, {sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]});
                continue;
            }
#pragma unroll
            for (int e = 0; e < width; ++e)
                if (column + e < N)
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
    const int row = warp / (threads_n / lanes_n) * lanes_m + lane / lanes_n;
    const int column = warp % (threads_n / lanes_n) * lanes_n + lane % lanes_n;
    const int steps = ceil_div(ceil_div(K, block_k), splits);
    const int first_k = static_cast<int>(blockIdx.y) * steps * block_k;
    int tile_m, tile_n;
    pick_tile(tile_m, tile_n, M, N);
    if constexpr (combine_by_pdl)
        griddepcontrol_launch_dependents();

    auto copy_step = [&](int step) {
        const int k = first_k + step * block_k;
        if (step < steps) {
            staged[step % stages].a.copy(a, tile_m * block_m, k, M, K, K);
            staged[step % stages].b.copy(b, k, tile_n * block_n, K, N, N);
        }
        cp_async_commit(); // perhaps of nothing, so that one group is one step
    };
    float sums[thread_m][thread_n] = {};
#pragma unroll
    for (int step = 0; step < stages - 1; ++step)
        copy_step(step);
    for (int step = 0; step < steps; ++step) {
        cp_async_wait<stages - 2>();
        __syncthreads(); // this step is staged, and the one before has been read
        copy_step(step + stages - 1);
        multiply(sums, staged[step % stages], row, column);
    }
    store(sums, c + static_cast<i64>(blockIdx.y) * M * N, tile_m * block_m + row,
          tile_n * block_n + column * width, M, N);
}

// c[i] = the sum over all splits of partial_c[split][i], for `count` elements.
#if SPLITS > 1
extern "C" __global__ void __launch_bounds__(256)
    gemm_combine(const float *__restrict__ partial_c, float *__restrict__ c, i64 count) {
    const i64 first = (static_cast<i64>(blockIdx.x) * 256 + threadIdx.x) * width;
    const bool aligned = count % width == 0;
    vector<float, width> sum = {};
    if constexpr (combine_by_pdl)
        griddepcontrol_wait(); // for the parts
#pragma unroll
    for (int split = 0; split < splits; ++split) {
        const float *from = partial_c + split * count + first;
        vector<float, width> part = {};
        if (aligned && first < count)
            part = load_vector<width>(from);
#pragma unroll
        for (int i = 0; i < width; ++i) {
            if (!aligned && first + i < count)
                part.values[i] = from[i];
            sum.values[i] += part.values[i];
        }
    }
    if (aligned && first < count)
        store_vector<width>(c + first, sum);
#pragma unroll
    for (int i = 0; i < width; ++i)
        if (!aligned && first + i < count)
            c[first + i] = sum.values[i];
}
#endif
