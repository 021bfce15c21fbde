// C = epilogue(A B) in half or bfloat16 with float sums, on Hopper: wgmma and TMA (sm_90a).
//
//   A         [BATCH, M, K], or [BATCH, K, M] with TRANS_A
//   B         [BATCH, K, N], or [BATCH, N, K] with TRANS_B
//   C         [BATCH, M, N], like the residual; the bias is [N]
//
// The product of a tile is D = P Q of BLOCK_M rows and BLOCK_N columns: P and Q are A and B, or
// with SWAP the transposed B and A, so that D is a tile of the transposed C and few rows of A are
// the few columns of a wgmma. A producer warp loads tiles of P and Q of BLOCK_K steps into a
// pipeline of STAGES stages; the blocks of a cluster share what they load. Consumer warpgroups
// multiply: all of them one tile, or, with PINGPONG, two of them tiles of their own in turn.
// README.md of the problem has a diagram.

#include "lib/cp_async.cuh"
#include "lib/element.cuh"
#include "lib/hopper.cuh"
#include "lib/integer.cuh"
#include "lib/ldmatrix.cuh"
#include "lib/linear_epilogue.cuh"
#include "lib/pipeline.cuh"
#include "lib/smem.cuh"
#include "lib/split_tiles.cuh"
#include "lib/tile_order.cuh"
#include "lib/warp.cuh"

// ---- Genes ----

#if !defined(SWAP) || !defined(BLOCK_M) || !defined(BLOCK_N) || !defined(BLOCK_K) ||               \
    !defined(CONSUMERS) || !defined(PINGPONG) || !defined(PRODUCER) || !defined(STAGES) ||         \
    !defined(CLUSTER_M) || !defined(CLUSTER_N) || !defined(SCHEDULE) || !defined(SPLITS) ||        \
    !defined(COMBINE) || !defined(PERSISTENT) || !defined(STORE) || !defined(GROUP) ||             \
    !defined(MIN_CTAS) || !defined(TRANS_A) || !defined(TRANS_B) || !defined(BF16) ||              \
    !defined(EPILOGUE)
#error "a gene or a specialised dimension is not defined: see solution.json"
#endif

using element = conditional_t<BF16, bf16, f16>;
constexpr linear_epilogue epilogue = static_cast<linear_epilogue>(EPILOGUE);
constexpr bool swapped = SWAP;
constexpr int block_m = BLOCK_M, block_n = BLOCK_N, block_k = BLOCK_K;
constexpr int consumers = CONSUMERS; // warpgroups that multiply
constexpr bool pingpong = PINGPONG;  // each has tiles of its own, and they multiply in turn
constexpr bool producer_warpgroup = PRODUCER == PRODUCER_WARPGROUP; // releases its registers
constexpr int stages = STAGES;
constexpr int cluster_m = CLUSTER_M, cluster_n = CLUSTER_N; // tiles of a cluster's blocks
constexpr bool stream_k = SCHEDULE == SCHEDULE_STREAM_K;
constexpr int splits = SPLITS;                          // blocks that share the sum of a tile
constexpr bool in_cluster = COMBINE == COMBINE_CLUSTER; // and combine it as a cluster
constexpr bool in_workspace = stream_k || (splits > 1 && !in_cluster);
constexpr bool persistent = PERSISTENT && !in_cluster; // a block has several parts, in turn
constexpr bool store_by_tma = STORE == STORE_TMA;
constexpr int group = GROUP; // rows of cluster tiles that run together
constexpr int min_ctas = MIN_CTAS;

// ---- Derived sizes ----

constexpr int cluster_blocks = cluster_m * cluster_n; // that load together
constexpr int consumer_threads = consumers * 128;
constexpr int threads = consumer_threads + (producer_warpgroup ? 128 : 32);
constexpr int sum_threads = pingpong ? 128 : consumer_threads; // that have the sums of a tile
constexpr int warpgroup_rows = pingpong ? block_m : block_m / consumers;
constexpr int m_tiles = warpgroup_rows / 64, n_tiles = block_n / 8;
constexpr int registers = m_tiles * n_tiles * 4;

// Registers per thread: at launch and, where a producer warpgroup keeps only 24, after the
// consumers have taken over the rest (solution.json computes the same). Registers are not
// reallocated where every thread has more than 168.
constexpr int launch_registers = 65536 / (ceil_div(threads, 128) * 128 * min_ctas) / 8 * 8;
constexpr int pool_registers = (launch_registers * (consumers + 1) - 24) / consumers / 8 * 8;
constexpr int consumer_registers = min_of(pool_registers, 240);
constexpr bool reallocate_registers = producer_warpgroup && launch_registers <= 168;

using sum_registers = float[m_tiles][n_tiles * 4];

#include "pipeline.cuh"

// ---- Sums ----

// The steps of a part of a tile's sum. One group of products runs while the next one is issued.
DEVICE void sum_part(sum_registers &sums, const tile_part &part, pipeline_state<stages> &state,
                     int first_row, u32 release_smem) {
    const u64 p = p_tile::descriptor(p_smem(0), first_row), q = q_tile::descriptor(q_smem(0), 0);
    u32 previous = 0;
#pragma unroll 1
    for (int step = part.first; step < part.end; ++step) {
        const u32 stage_offset = state.stage * stage_bytes;
        mbarrier_wait(full_barrier(state.stage), state.phase);
        wgmma_fence();
#pragma unroll
        for (int i = 0; i < block_k / 16; ++i)
#pragma unroll
            for (int m = 0; m < m_tiles; ++m)
                wgmma<element, q_tile::order, p_tile::order>(
                    sums[m], descriptor_advance(p, stage_offset + p_tile::offset(m * 64, i)),
                    descriptor_advance(q, stage_offset + q_tile::offset(0, i)),
                    step > part.first || i > 0);
        wgmma_commit();
        wgmma_wait<1>();
        if (step > part.first)
            release_stage(previous, release_smem);
        previous = state.stage;
        state.advance(1);
    }
    wgmma_wait<0>();
#pragma unroll
    for (int m = 0; m < m_tiles; ++m)
        wgmma_hold(sums[m]);
    release_stage(previous, release_smem);
}

// Ping-pong: named barriers by which two warpgroups multiply in turn. The first one begins.
DEVICE void pass_turn(int warpgroup) {
    named_barrier_arrive(2 + (warpgroup ^ 1), 256);
}
DEVICE void await_turn(int warpgroup) {
    named_barrier_sync(2 + warpgroup, 256);
}

#include "epilogue.cuh"

// ---- The schedule ----

#if COMBINE == COMBINE_CLUSTER || CLUSTER_M * CLUSTER_N > 1
#define CLUSTER                                                                                    \
    __cluster_dims__(CLUSTER_M *CLUSTER_N *(COMBINE == COMBINE_CLUSTER ? SPLITS : 1), 1, 1)
#else
#define CLUSTER
#endif

extern "C" __global__ void CLUSTER __launch_bounds__(threads, min_ctas)
    gemm_hopper(const __grid_constant__ tensor_map a_map, const __grid_constant__ tensor_map b_map,
                const __grid_constant__ tensor_map c_map, const element *__restrict__ bias,
                const element *__restrict__ residual, element *__restrict__ c, float4 *parts,
                u32 *counters, int M, int N, int K, int BATCH) {
    const bool loads = threadIdx.x == consumer_threads; // the thread that issues all loads
    if (loads) { // the maps come while the barriers are initialised
        prefetch_tensor_map(a_map);
        prefetch_tensor_map(b_map);
    }
    init_barriers();
    const cluster_place cluster{};
    const int tiles_m = ceil_div(swapped ? N : M, block_m * cluster_m);
    const int tiles_n = ceil_div(swapped ? M : N, block_n * cluster_n);
    tile_parts<stream_k, splits> own(tiles_m * tiles_n * BATCH, ceil_div(K, block_k),
                                     blockIdx.x / cluster_blocks, gridDim.x / cluster_blocks);
    const auto locate = [&](const tile_part &part) {
        const int batch = part.tile / (tiles_m * tiles_n);
        const tile_place place =
            place_of_tile(part.tile - batch * (tiles_m * tiles_n), tiles_m, tiles_n, group);
        return block_tile{batch, (place.m * cluster_m + cluster.m) * block_m,
                          (place.n * cluster_n + cluster.n) * block_n};
    };
    await_barriers();
    tile_part part;
    const int warpgroup = threadIdx.x / 128;
    if (warpgroup == consumers) {
        if constexpr (reallocate_registers)
            setmaxnreg_dec<24>();
        if (loads) {
            pipeline_state<stages> state;
            while (own.take(part)) {
                load_part(part, locate(part), state, swapped ? b_map : a_map,
                          swapped ? a_map : b_map, cluster);
                if constexpr (!persistent)
                    break;
            }
        }
        __syncwarp();
        if constexpr (in_cluster)
            cluster_sync(); // that of the consumers' sums
    } else {
        if constexpr (reallocate_registers)
            setmaxnreg_inc<consumer_registers>();
        pipeline_state<stages> state;
        const u32 release_smem = cluster.barrier_to_release();
        int number = 0; // of the part
        if (pingpong && warpgroup == 1)
            pass_turn(1);
        while (own.take(part)) {
            if (pingpong && number++ % 2 != warpgroup) {
                state.skip(part.end - part.first);
                continue;
            }
            sum_registers sums;
            if constexpr (pingpong)
                await_turn(warpgroup);
            sum_part(sums, part, state, pingpong ? 0 : warpgroup * warpgroup_rows, release_smem);
            if constexpr (pingpong)
                pass_turn(warpgroup);
            if (!in_workspace || part.sharers == 1 ||
                add_parts_of_blocks(sums, part.of_rank(cluster.rank, cluster_blocks), parts,
                                    counters, warpgroup))
                output_tile(locate(part), warpgroup, c, bias, residual, M, N).write(sums, c_map);
            if constexpr (!persistent)
                break;
        }
        if constexpr (store_by_tma)
            bulk_wait<0>(); // the panels have been stored
    }
    if constexpr (in_cluster || cluster_blocks > 1)
        cluster_meet(); // no other block uses this one's shared memory any more
}
