// Included by kernel.cu: the pipeline of tiles of P and Q in shared memory, its producer, and the
// consumers' release.

// ---- Tiles in shared memory ----

// A tile of one factor, `extent` rows of P or columns of Q by block_k steps, as wgmma reads it with
// a swizzle of 128 bytes: panels of rows of 128 bytes. Of a factor that is stored k-major a panel
// has 64 steps of all `extent`; of one that is stored the other way, 64 of `extent` by all steps.
// `sharers` blocks of a cluster load an equal share of each panel's rows.
template <int extent, bool k_major, int sharers> struct factor_tile {
    static constexpr major order = k_major ? major::k : major::mn;
    static constexpr int bytes = extent * block_k * 2;
    static constexpr int panel_rows = k_major ? extent : block_k;
    static constexpr int panels = k_major ? block_k / 64 : extent / 64;
    static constexpr int panel_bytes = panel_rows * 128;
    static constexpr int share_rows = panel_rows / sharers;
    static_assert(share_rows % 8 == 0 && panels > 0, "swizzled rows come in groups of eight");

    // Issues this block's share of the loads of the tile that begins at `first` and step k.
    static DEVICE void load(u32 tile_smem, const tensor_map &map, u32 barrier_smem, int first,
                            int k, int batch, int share, u16 blocks) {
#pragma unroll
        for (int panel = 0; panel < panels; ++panel) {
            const u32 share_smem = tile_smem + panel * panel_bytes + share * share_rows * 128;
            const int x0 = (k_major ? k : first) + panel * 64;
            const int x1 = (k_major ? first : k) + share * share_rows;
            if constexpr (sharers > 1)
                tma_load_multicast(blocks, share_smem, map, barrier_smem, x0, x1, batch);
            else
                tma_load(share_smem, map, barrier_smem, x0, x1, batch);
        }
    }

    // Offset of the part that begins at `first`, a multiple of 64, and 16-step `step`.
    static DEVICE constexpr u32 offset(int first, int step) {
        return k_major ? step / 4 * panel_bytes + first * 128 + step % 4 * 32
                       : first / 64 * panel_bytes + step * 2048;
    }
    static DEVICE u64 descriptor(u32 tile_smem, int first) {
        return matrix_descriptor(tile_smem + offset(first, 0), panel_bytes, 1024, swizzle::by_128);
    }
};

using p_tile = factor_tile<block_m, swapped ? TRANS_B : !TRANS_A, cluster_n>;
using q_tile = factor_tile<block_n, swapped ? !TRANS_A : TRANS_B, cluster_m>;

// ---- Shared memory, in bytes ----
//
//   0              `stages` stages, of a tile of P and one of Q; in a cluster that shares a tile,
//                  after its last step: the sums of this block, by threads
//   panels_offset  of each warpgroup two panels of C that the copy engine stores: 64 rows each
//   barriers       two mbarriers per stage: full (the loads have completed), empty (all have read
//   it) flags          a word for each warpgroup: whether its block comes last

constexpr int stage_bytes = p_tile::bytes + q_tile::bytes;
constexpr int sums_bytes = in_cluster ? block_m * block_n * 4 : 0;
constexpr int panels_offset = max_of(stages * stage_bytes, sums_bytes);
constexpr int panel_columns = block_n % 64 == 0 ? 64 : 32; // with a swizzle of a row's bytes
constexpr int panel_bytes = 64 * panel_columns * 2;
constexpr int barriers_offset = panels_offset + (store_by_tma ? consumers * 2 * panel_bytes : 0);
constexpr int flags_offset = barriers_offset + 16 * stages;

extern __shared__ __align__(1024) unsigned char smem[];

static_assert(block_m % 64 == 0 && warpgroup_rows * (pingpong ? 1 : consumers) == block_m &&
                  warpgroup_rows % 64 == 0,
              "a warpgroup has 64 rows or a multiple of it");
static_assert(stage_bytes % 1024 == 0 && p_tile::bytes % 1024 == 0, "the swizzle's period");
static_assert(!pingpong || consumers == 2, "two warpgroups take turns");
static_assert(!store_by_tma || (!swapped && !in_cluster && block_n % 32 == 0),
              "panels of C have 64 or 32 columns, in whole tiles of it");
static_assert(!in_cluster || (!stream_k && splits > 1 && !pingpong),
              "a cluster that shares a sum has one part of it a block");

DEVICE u32 p_smem(int stage) {
    return smem_address(smem) + stage * stage_bytes;
}
DEVICE u32 q_smem(int stage) {
    return p_smem(stage) + p_tile::bytes;
}
DEVICE u32 full_barrier(int stage) {
    return smem_address(smem) + barriers_offset + 16 * stage;
}
DEVICE u32 empty_barrier(int stage) {
    return full_barrier(stage) + 8;
}

// The tile of D that a block computes: its first row and column, and its matrix of the batch.
struct block_tile {
    int batch, row, column;
};

// ---- Clusters ----

// What the cluster's threads wrote to shared memory before is visible behind it.
DEVICE void cluster_sync() {
    cluster_arrive();
    cluster_wait();
}

// All threads of the cluster have come so far.
DEVICE void cluster_meet() {
    cluster_arrive_relaxed();
    cluster_wait();
}

// The block among those that load together. Those with the same m have the same rows of P, those
// with the same n the same columns of Q. In a cluster that shares sums, each part of them has such
// blocks, one after another.
constexpr int sharing_blocks = cluster_m + cluster_n - 1; // that write to a block's stages

struct cluster_place {
    int first, rank, m, n; // the first block's rank in the cluster; this one's among them

    DEVICE cluster_place() {
        const int in_all = cluster_blocks > 1 ? static_cast<int>(cluster_rank()) : 0;
        rank = in_all % cluster_blocks;
        first = in_all - rank;
        m = rank % cluster_m;
        n = rank / cluster_m;
    }
    DEVICE u16 blocks_of_p() const {
        u32 blocks = 0;
#pragma unroll
        for (int i = 0; i < cluster_n; ++i)
            blocks |= 1u << (first + m + i * cluster_m);
        return blocks;
    }
    DEVICE u16 blocks_of_q() const {
        return ((1u << cluster_m) - 1) << (first + n * cluster_m);
    }
    // Where this lane says that its warp has read stage 0: at one of the blocks that write to this
    // block's stages, itself among them. 0: the lane says nothing.
    DEVICE u32 barrier_to_release() const {
        const int lane = threadIdx.x % 32;
        if constexpr (cluster_blocks == 1)
            return lane == 0 ? empty_barrier(0) : 0;
        const int other_m = lane - cluster_n + (lane - cluster_n >= m);
        const int to = lane < cluster_n ? m + lane * cluster_m : other_m + n * cluster_m;
        return lane < sharing_blocks ? map_to_block(empty_barrier(0), first + to) : 0;
    }
};

// Begins to initialise them; what follows needs no other block until await_barriers.
DEVICE void init_barriers() {
    if (threadIdx.x == 0) {
        for (int i = 0; i < stages; ++i) {
            mbarrier_init(full_barrier(i), 1);
            mbarrier_init(empty_barrier(i), sum_threads / 32 * sharing_blocks);
        }
        fence_mbarrier_init();
    }
    if constexpr (cluster_blocks > 1)
        cluster_arrive_relaxed();
}

// All blocks of the cluster run, and their barriers are initialised.
DEVICE void await_barriers() {
    if constexpr (cluster_blocks > 1)
        cluster_wait();
    else
        __syncthreads();
}

// Signals that the warp has read the stage.
DEVICE void release_stage(int stage, u32 release_smem) {
    if (release_smem) {
        if constexpr (cluster_blocks > 1)
            mbarrier_arrive_block(release_smem + 16 * stage);
        else
            mbarrier_arrive(release_smem + 16 * stage);
    }
    __syncwarp();
}

// The single thread that issues the loads of a part. A stage is empty when the consumers of all
// blocks to which it is written have read it. A wait for parity 1 on a fresh barrier returns at
// once, so the first round does not wait.
DEVICE void load_part(const tile_part &part, const block_tile &tile, pipeline_state<stages> &state,
                      const tensor_map &p_map, const tensor_map &q_map,
                      const cluster_place &cluster) {
#pragma unroll 1
    for (int step = part.first; step < part.end; ++step) {
        const u32 full = full_barrier(state.stage);
        mbarrier_wait(empty_barrier(state.stage), state.phase ^ 1);
        mbarrier_arrive_expect_bytes(full, stage_bytes);
        p_tile::load(p_smem(state.stage), p_map, full, tile.row, step * block_k, tile.batch,
                     cluster.n, cluster.blocks_of_p());
        q_tile::load(q_smem(state.stage), q_map, full, tile.column, step * block_k, tile.batch,
                     cluster.m, cluster.blocks_of_q());
        state.advance(1);
    }
}
