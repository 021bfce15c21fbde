// The sum of N floats:  sum = x[0] + x[1] + ... + x[N - 1].
//
// Each block adds the tiles that ORDER gives it, and writes its partial sum. A second kernel, or
// the last block to finish, adds the partial sums. No sum depends on which block is faster, so that
// the same input gives the same bits.

#include "lib/last_block.cuh"
#include "lib/pdl.cuh"
#include "lib/types.cuh"
#include "lib/vector.cuh"
#include "lib/warp.cuh"

// ---- Genes ----

#if !defined(THREADS) || !defined(VECTOR) || !defined(LOADS) || !defined(CTAS_PER_SM) ||           \
    !defined(ORDER) || !defined(COMBINE)
#error "a gene of reduce_sum is not defined: see genes in solution.json"
#endif

constexpr int threads = THREADS; // threads per block
constexpr int width = VECTOR;    // numbers per load
constexpr int loads = LOADS;     // loads of a thread in flight at once
constexpr bool interleaved = ORDER == ORDER_INTERLEAVED;
constexpr bool combine_by_pdl = COMBINE == COMBINE_EARLY;
constexpr bool combine_by_last_block = COMBINE == COMBINE_LAST;

// ---- Derived sizes and shared memory ----

constexpr int tile = threads * loads * width;
constexpr int warps = threads / 32;

static_assert(warps <= 32, "one warp adds the sums of all");

__shared__ float warp_sums_smem[warps];

// ---- Steps ----

// The sum of a thread's share of the tile that begins at number `first`. All loads come before the
// first addition, so that they are in flight together.
DEVICE float tile_sum(const float *x, int first, int N) {
    vector<float, width> values[loads];
    const bool whole = first + tile <= N;
#pragma unroll
    for (int load = 0; load < loads; ++load) {
        const int n = first + (load * threads + threadIdx.x) * width;
        if (whole) {
            values[load] = load_vector<width>(x + n);
        } else {
#pragma unroll
            for (int i = 0; i < width; ++i)
                values[load].values[i] = n + i < N ? x[n + i] : 0.0f;
        }
    }
    float sum = 0.0f;
#pragma unroll
    for (int load = 0; load < loads; ++load)
#pragma unroll
        for (int i = 0; i < width; ++i)
            sum += values[load].values[i];
    return sum;
}

// Adds a value of each thread of the block; the threads of the first warp have the sum.
DEVICE float block_sum(float value) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    value = lanes_sum<32>(value);
    if (lane == 0)
        warp_sums_smem[warp] = value;
    __syncthreads(); // every warp has written its sum
    return warp == 0 ? lanes_sum<32>(lane < warps ? warp_sums_smem[lane] : 0.0f) : 0.0f;
}

DEVICE void add_partial_sums(const float *partial_sums, float *sum, int blocks) {
    float own = 0.0f;
    for (int block = threadIdx.x; block < blocks; block += threads)
        own += partial_sums[block];
    own = block_sum(own);
    if (threadIdx.x == 0)
        *sum = own;
}

// ---- The schedule ----

extern "C" __global__ void __launch_bounds__(threads, CTAS_PER_SM)
    sum_blocks(const float *__restrict__ x, float *partial_sums, u32 *counter, float *sum, int N,
               int block_tiles) {
    const int blocks = gridDim.x, block = blockIdx.x;
    if constexpr (combine_by_pdl)
        griddepcontrol_launch_dependents();

    float own = 0.0f;
    for (int i = 0; i < block_tiles; ++i)
        own += tile_sum(x, (interleaved ? i * blocks + block : block * block_tiles + i) * tile, N);
    own = block_sum(own);
    if (threadIdx.x == 0)
        partial_sums[block] = own;

    if constexpr (combine_by_last_block)
        if (arrive_is_last_block(counter, blocks))
            add_partial_sums(partial_sums, sum, blocks);
}

extern "C" __global__ void __launch_bounds__(threads)
    sum_partial_sums(const float *partial_sums, float *sum, int blocks) {
    if constexpr (combine_by_pdl)
        griddepcontrol_wait(); // for the partial sums
    add_partial_sums(partial_sums, sum, blocks);
}
