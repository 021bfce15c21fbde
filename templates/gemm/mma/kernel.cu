// C = epilogue(A B) in half or bfloat16 with float sums, by mma.sync: sm_80 and later.
//
//   A         [BATCH, M, K], or [BATCH, K, M] with TRANS_A
//   B         [BATCH, K, N], or [BATCH, N, K] with TRANS_B
//   C         [BATCH, M, N], like the residual; the bias is [N]
//
// A block computes tiles of BLOCK_M x BLOCK_N. Asynchronous copies bring tiles of A and B of
// BLOCK_K steps of the sum to shared memory, STAGES - 1 of them ahead; ldmatrix brings fragments of
// them to registers. Blocks may share the sum of a tile. Rows in memory are multiples of 16 bytes.
// README.md of the problem has a diagram.

#include "lib/cluster.cuh"
#include "lib/cp_async.cuh"
#include "lib/element.cuh"
#include "lib/fragments.cuh"
#include "lib/integer.cuh"
#include "lib/linear_epilogue.cuh"
#include "lib/mma.cuh"
#include "lib/smem.cuh"
#include "lib/smem_rows.cuh"
#include "lib/split_tiles.cuh"
#include "lib/tile_order.cuh"

// ---- Genes ----

#if !defined(BLOCK_M) || !defined(BLOCK_N) || !defined(BLOCK_K) || !defined(WARPS_M) ||            \
    !defined(WARPS_N) || !defined(WARPS_K) || !defined(STAGES) || !defined(SCHEDULE) ||            \
    !defined(SPLITS) || !defined(COMBINE) || !defined(GROUP) || !defined(MIN_CTAS) ||              \
    !defined(TRANS_A) || !defined(TRANS_B) || !defined(BF16) || !defined(EPILOGUE)
#error "a gene or a specialised dimension is not defined: see solution.json"
#endif

using element = conditional_t<BF16, bf16, f16>;
constexpr bool trans_a = TRANS_A, trans_b = TRANS_B;
constexpr linear_epilogue epilogue = static_cast<linear_epilogue>(EPILOGUE);
constexpr int block_m = BLOCK_M, block_n = BLOCK_N, block_k = BLOCK_K;
constexpr int warps_m = WARPS_M, warps_n = WARPS_N;
constexpr int warps_k = WARPS_K; // warps that take a stage's groups of 16 steps in turn
constexpr int stages = STAGES;
constexpr bool stream_k = SCHEDULE == SCHEDULE_STREAM_K;
constexpr int splits = SPLITS;                          // blocks that share the sum of a tile
constexpr bool in_cluster = COMBINE == COMBINE_CLUSTER; // and combine it as a cluster
constexpr bool in_workspace = stream_k || (splits > 1 && !in_cluster);
constexpr int group = GROUP; // rows of tiles that run together

// ---- Derived sizes ----

constexpr int warps_mn = warps_m * warps_n;
constexpr int threads = warps_mn * warps_k * 32;
constexpr int sum_threads = warps_mn * 32; // that have the tile's sums at the end
constexpr int warp_rows = block_m / warps_m, warp_columns = block_n / warps_n;
constexpr int m_tiles = warp_rows / 16, n_tiles = warp_columns / 8;
constexpr int registers = m_tiles * n_tiles * 4;

using a_tile = smem_rows<trans_a ? block_k : block_m, 2 * (trans_a ? block_m : block_k), false>;
using b_tile = smem_rows<trans_b ? block_n : block_k, 2 * (trans_b ? block_k : block_n), false>;
using c_tile = smem_rows<block_m, 2 * block_n, true>;

// ---- Shared memory, in bytes ----
//
//   0         `stages` tiles of A and of B; after the sum of a tile:
//             the sums of the warps along K but the first, or of this block of a cluster
//   c_offset  the tile of C: first the residual, then the result

constexpr int stage_bytes = a_tile::bytes + b_tile::bytes;
constexpr int cluster_bytes = in_cluster ? block_m * block_n * 4 : 0;
constexpr int c_offset = cluster_bytes;

extern __shared__ __align__(128) unsigned char smem[];

static_assert(warp_rows % 16 == 0 && warp_columns % 16 == 0, "a warp has whole tiles of mma.sync");
static_assert(block_k % (16 * warps_k) == 0, "the warps along K have equally many groups of steps");
static_assert(!in_cluster || (!stream_k && splits > 1 && block_n % (8 * splits) == 0),
              "a block of a cluster has whole columns of fragments");

using sum_registers = float[m_tiles][n_tiles][4];

struct thread_place {
    int row, column; // the warp's first in the tile
    int along_k;     // of the warps along K
    int number;      // of the threads that have the same place along K
};

// ---- Copies ----

// Copies rows [first_row, ...) and columns [first_column, ...) of a matrix in global memory to a
// tile; zeros beyond its ends. Ends of columns are multiples of 8.
template <typename tile>
DEVICE void copy_tile(u32 tile_smem, const element *matrix_gmem, int stride, int first_row,
                      int row_end, int first_column, int column_end) {
    constexpr int chunks = tile::bytes / 16, passes = ceil_div(chunks, threads);
#pragma unroll
    for (int pass = 0; pass < passes; ++pass) {
        const int n = pass * threads + static_cast<int>(threadIdx.x);
        const int row = n / tile::row_chunks, chunk = n % tile::row_chunks;
        const bool inside = first_row + row < row_end && first_column + chunk * 8 < column_end;
        const element *from = matrix_gmem;
        if (inside)
            from += multiply_wide(first_row + row, stride) + first_column + chunk * 8;
        if (chunks % threads == 0 || n < chunks)
            cp_async_16(tile_smem + tile::offset(row, chunk), from, inside);
    }
}

struct operands {
    const element *a, *b;
    int M, N, K;

    DEVICE void copy_stage(u32 stage_smem, const tile_place &place, int step) const {
        const int m = place.m * block_m, n = place.n * block_n, k = step * block_k;
        if constexpr (trans_a)
            copy_tile<a_tile>(stage_smem, a, M, k, K, m, M);
        else
            copy_tile<a_tile>(stage_smem, a, K, m, M, k, K);
        if constexpr (trans_b)
            copy_tile<b_tile>(stage_smem + a_tile::bytes, b, K, n, N, k, K);
        else
            copy_tile<b_tile>(stage_smem + a_tile::bytes, b, N, k, K, n, N);
    }
};

// ---- Sums ----

// The A operand, 16 rows of A and 16 steps, of a tile that is stored by columns of A.
DEVICE void load_a_by_columns(u32 (&a)[4], u32 tile_smem, int first_row, int step) {
    const int lane = threadIdx.x % 32;
    ldmatrix_x4_trans(a, tile_smem + a_tile::offset(step * 16 + lane / 16 * 8 + lane % 8,
                                                    first_row / 8 + lane / 8 % 2));
}

DEVICE void multiply_stage(sum_registers &sums, u32 stage_smem, const thread_place &thread) {
    const u32 a_smem = stage_smem, b_smem = stage_smem + a_tile::bytes;
#pragma unroll
    for (int i = 0; i < block_k / 16 / warps_k; ++i) {
        const int step = i * warps_k + thread.along_k;
        u32 a[m_tiles][4], b[n_tiles / 2][4];
#pragma unroll
        for (int m = 0; m < m_tiles; ++m)
            if constexpr (trans_a)
                load_a_by_columns(a[m], a_smem, thread.row + m * 16, step);
            else
                load_a<a_tile>(a[m], a_smem, thread.row + m * 16, step);
#pragma unroll
        for (int n = 0; n < n_tiles / 2; ++n)
            if constexpr (trans_b)
                load_b_transposed<b_tile>(b[n], b_smem, thread.column + n * 16, step);
            else
                load_b<b_tile>(b[n], b_smem, step * 16, thread.column / 16 + n);
#pragma unroll
        for (int m = 0; m < m_tiles; ++m)
#pragma unroll
            for (int n = 0; n < n_tiles; ++n)
                mma_m16n8k16<element>(sums[m][n], a[m], b[n / 2][n % 2 * 2],
                                      b[n / 2][n % 2 * 2 + 1]);
    }
}

// The steps of a part of a tile's sum. A barrier a step says that its stage has come and that the
// one before it, which the next copy overwrites, has been read.
DEVICE void sum_part(sum_registers &sums, const tile_part &part, const tile_place &place,
                     const operands &of, const thread_place &thread) {
    const u32 first_smem = smem_address(smem);
    int copied = part.first, copy_to = 0, read_from = 0;
    const auto copy_step = [&] {
        if (copied < part.end)
            of.copy_stage(first_smem + copy_to * stage_bytes, place, copied);
        cp_async_commit(); // perhaps of nothing, so that one group is one step
        ++copied;
        copy_to = copy_to + 1 == stages ? 0 : copy_to + 1;
    };
#pragma unroll 1
    for (int i = 0; i < stages - 1; ++i)
        copy_step();
#pragma unroll 1
    for (int step = part.first; step < part.end; ++step) {
        cp_async_wait<stages - 2>();
        __syncthreads();
        copy_step();
        multiply_stage(sums, first_smem + read_from * stage_bytes, thread);
        read_from = read_from + 1 == stages ? 0 : read_from + 1;
    }
    __syncthreads(); // all copies have come and been read: shared memory is free
}

// Adds up the sums of the warps along K in those of the first.
DEVICE void add_warps_along_k(sum_registers &sums, const thread_place &thread) {
    float4 *own_smem = reinterpret_cast<float4 *>(smem) + thread.number;
    constexpr int vectors = registers / 4;
    if (thread.along_k > 0)
#pragma unroll
        for (int i = 0; i < vectors; ++i) {
            const float(&from)[4] = sums[i / n_tiles][i % n_tiles];
            own_smem[((thread.along_k - 1) * vectors + i) * sum_threads] =
                make_float4(from[0], from[1], from[2], from[3]);
        }
    __syncthreads();
    if (thread.along_k == 0)
#pragma unroll 1
        for (int other = 0; other < warps_k - 1; ++other)
#pragma unroll
            for (int i = 0; i < vectors; ++i) {
                const float4 added = own_smem[(other * vectors + i) * sum_threads];
                float(&to)[4] = sums[i / n_tiles][i % n_tiles];
                to[0] += added.x;
                to[1] += added.y;
                to[2] += added.z;
                to[3] += added.w;
            }
    __syncthreads(); // they have been read
}

#include "epilogue.cuh"

// ---- The schedule ----

#if COMBINE == COMBINE_CLUSTER
#define CLUSTER __cluster_dims__(SPLITS, 1, 1)
#else
#define CLUSTER
#endif

extern "C" __global__ void CLUSTER __launch_bounds__(threads, MIN_CTAS)
    gemm_mma(const element *a, const element *b, const element *bias, const element *residual,
             element *c, float4 *parts, u32 *counters, int M, int N, int K, int BATCH) {
    const int warp = threadIdx.x / 32;
    const thread_place thread = {warp / warps_n % warps_m * warp_rows,
                                 warp % warps_n * warp_columns, warp / warps_mn,
                                 static_cast<int>(threadIdx.x) % sum_threads};
    const int tiles_m = ceil_div(M, block_m), tiles_n = ceil_div(N, block_n);
    tile_parts<stream_k, splits> own(tiles_m * tiles_n * BATCH, ceil_div(K, block_k), blockIdx.x,
                                     gridDim.x);
    tile_part part;
    while (own.take(part)) {
        const int batch = part.tile / (tiles_m * tiles_n);
        const tile_place place =
            place_of_tile(part.tile - batch * (tiles_m * tiles_n), tiles_m, tiles_n, group);
        sum_registers sums = {};
        sum_part(sums, part, place,
                 {a + multiply_wide(batch, M) * K, b + multiply_wide(batch, K) * N, M, N, K},
                 thread);
        if constexpr (warps_k > 1)
            add_warps_along_k(sums, thread);
        output_tile output = {c, bias, residual, batch, place.m * block_m, place.n * block_n, M, N};
        if constexpr (in_cluster)
            output.take_columns_of_block(sums, thread);
        else if (in_workspace && part.sharers > 1) {
            if (!add_parts_of_blocks(sums, part, parts, counters, thread))
                continue;
        }
        output.write(sums, thread);
    }
    if constexpr (in_cluster) { // the others have read this block's sums
        cluster_arrive();
        cluster_wait();
    }
}
