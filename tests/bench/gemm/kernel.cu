// C = A B in float, without tensor cores:  c[m][n] = sum over k of a[m][k] b[k][n].
//
//   a [M, K]   b [K, N]   c [M, N]   float, row-major
//
// A block computes a tile of C and iterates over K. Tiles of A, transposed, and of B are staged in
// shared memory; a thread takes every THREADS_M-th vector of rows and every THREADS_N-th vector of
// columns.

#include "lib/types.cuh"

// ---- Genes ----

#if !defined(BLOCK_M) || !defined(BLOCK_N) || !defined(BLOCK_K) || !defined(THREADS_M) ||          \
    !defined(THREADS_N) || !defined(VECTOR_M) || !defined(VECTOR_N) || !defined(LOAD) ||           \
    !defined(PADDING) || !defined(STAGES) || !defined(UNROLL) || !defined(MIN_CTAS)
#error "a gene of gemm is not defined: see genes in template.json"
#endif

constexpr int block_m = BLOCK_M, block_n = BLOCK_N, block_k = BLOCK_K;
constexpr int threads_m = THREADS_M, threads_n = THREADS_N;
constexpr int vector_m = VECTOR_M, vector_n = VECTOR_N; // elements per load from shared memory
constexpr int load_width = LOAD;                        // elements per load from global memory
constexpr int a_pitch = block_m + PADDING;
constexpr int stages = STAGES; // 2: the next tiles are loaded while the current ones are used
constexpr int unroll = UNROLL;

// ---- Derived sizes ----

constexpr int threads = threads_m * threads_n;
constexpr int rows = block_m / threads_m, columns = block_n / threads_n; // of a thread
constexpr int a_size = block_k * a_pitch, stage_size = a_size + block_k * block_n;
constexpr int a_loads = ceil_div(block_m * block_k / load_width, threads);
constexpr int b_loads = ceil_div(block_n * block_k / load_width, threads);

static_assert(block_m % (threads_m * vector_m) == 0 && block_n % (threads_n * vector_n) == 0,
              "a thread takes whole vectors");
static_assert(a_pitch % vector_m == 0, "vectors are aligned");
static_assert(threads <= 1024 && threads % 32 == 0, "whole warps");

extern __shared__ float4 stages_smem[];

// ---- Steps ----

template <int width> struct alignas(width * sizeof(float)) packed { float values[width]; };

// Elements [column, column + load_width) of a row that has `row_columns`; zeros outside. Rows are
// aligned for wide loads if their length is a multiple of the width.
DEVICE packed<load_width> load(const float *matrix, int row, int column, int matrix_rows,
                               int row_columns) {
    packed<load_width> loaded = {};
    const float *from = matrix + static_cast<i64>(row) * row_columns + column;
    if (row >= matrix_rows || column >= row_columns)
        return loaded;
    if (row_columns % load_width == 0)
        return *reinterpret_cast<const packed<load_width> *>(from);
#pragma unroll
    for (int i = 0; i < load_width; ++i)
        loaded.values[i] = column + i < row_columns ? from[i] : 0.0f;
    return loaded;
}

// Tiles of A and B on their way to shared memory.
struct tiles {
    packed<load_width> a[a_loads], b[b_loads];

    DEVICE void fetch(const float *a_gmem, const float *b_gmem, int first_row, int first_column,
                      int first_k, int M, int N, int K) {
#pragma unroll
        for (int i = 0; i < a_loads; ++i) {
            const int element = (i * threads + threadIdx.x) * load_width;
            if (element < block_m * block_k)
                a[i] =
                    load(a_gmem, first_row + element / block_k, first_k + element % block_k, M, K);
        }
#pragma unroll
        for (int i = 0; i < b_loads; ++i) {
            const int element = (i * threads + threadIdx.x) * load_width;
            if (element < block_n * block_k)
                b[i] = load(b_gmem, first_k + element / block_n, first_column + element % block_n,
                            K, N);
        }
    }

    DEVICE void stage(float *stage_smem) const {
#pragma unroll
        for (int i = 0; i < a_loads; ++i) {
            const int element = (i * threads + threadIdx.x) * load_width;
            if (element < block_m * block_k)
#pragma unroll
                for (int e = 0; e < load_width; ++e)
                    stage_smem[(element % block_k + e) * a_pitch + element / block_k] =
                        a[i].values[e];
        }
#pragma unroll
        for (int i = 0; i < b_loads; ++i) {
            const int element = (i * threads + threadIdx.x) * load_width;
            if (element < block_n * block_k)
                *reinterpret_cast<packed<load_width> *>(stage_smem + a_size + element) = b[i];
        }
    }
};

// Adds the product of the staged tiles.
DEVICE void multiply(float (&sums)[rows][columns], const float *stage_smem, int thread_m,
                     int thread_n) {
#pragma unroll unroll
    for (int k = 0; k < block_k; ++k) {
        packed<vector_m> a[rows / vector_m];
        packed<vector_n> b[columns / vector_n];
        const float *a_smem = stage_smem + k * a_pitch + thread_m * vector_m;
        const float *b_smem = stage_smem + a_size + k * block_n + thread_n * vector_n;
#pragma unroll
        for (int i = 0; i < rows / vector_m; ++i)
            a[i] = *reinterpret_cast<const packed<vector_m> *>(a_smem + i * threads_m * vector_m);
#pragma unroll
        for (int j = 0; j < columns / vector_n; ++j)
            b[j] = *reinterpret_cast<const packed<vector_n> *>(b_smem + j * threads_n * vector_n);
#pragma unroll
        for (int i = 0; i < rows; ++i)
#pragma unroll
            for (int j = 0; j < columns; ++j)
                sums[i][j] +=
                    a[i / vector_m].values[i % vector_m] * b[j / vector_n].values[j % vector_n];
    }
}

// ---- The schedule ----

extern "C" __global__ void __launch_bounds__(threads, MIN_CTAS)
    gemm(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int M,
         int N, int K) {
    const int first_row = blockIdx.y * block_m, first_column = blockIdx.x * block_n;
    const int thread_m = threadIdx.x / threads_n, thread_n = threadIdx.x % threads_n;
    float *smem = reinterpret_cast<float *>(stages_smem);
    float sums[rows][columns] = {};
    tiles next;

    next.fetch(a, b, first_row, first_column, 0, M, N, K);
    next.stage(smem);
    __syncthreads(); // the first tiles are staged
    for (int k = 0, stage = 0; k < K; k += block_k) {
        const bool more = k + block_k < K;
        if (stages == 2 && more)
            next.fetch(a, b, first_row, first_column, k + block_k, M, N, K);
        multiply(sums, smem + stage * stage_size, thread_m, thread_n);
        if (!more)
            break;
        if constexpr (stages == 2) {
            stage ^= 1;
        } else {
            __syncthreads(); // the only stage has been read
            next.fetch(a, b, first_row, first_column, k + block_k, M, N, K);
        }
        next.stage(smem + stage * stage_size);
        __syncthreads(); // the next tiles are staged
    }

#pragma unroll
    for (int i = 0; i < rows; ++i) {
        const int row = first_row + (i / vector_m * threads_m + thread_m) * vector_m + i % vector_m;
#pragma unroll
        for (int j = 0; j < columns; j += vector_n) {
            const int column = first_column + (j / vector_n * threads_n + thread_n) * vector_n;
            float *to = c + static_cast<i64>(row) * N + column;
            packed<vector_n> values;
#pragma unroll
            for (int e = 0; e < vector_n; ++e)
                values.values[e] = sums[i][j + e];
            if (row >= M || column >= N)
                continue;
            if (N % vector_n == 0) {
                *reinterpret_cast<packed<vector_n> *>(to) = values;
                continue;
            }
#pragma unroll
            for (int e = 0; e < vector_n; ++e)
                if (column + e < N)
                    to[e] = values.values[e];
        }
    }
}
