// Included by kernel.cu: the TMA pipelines of K and V in shared memory, and Q where it is there
// too, their producers and the consumers' release.

DEVICE u32 k_stage_smem(int stage) {
    return smem_address(smem) + stage * tile_bytes;
}
DEVICE u32 v_stage_smem(int stage) {
    return smem_address(smem) + v_smem + stage * tile_bytes;
}
DEVICE u32 k_full_barrier(int stage) {
    return smem_address(smem) + barriers_smem + 16 * stage;
}
DEVICE u32 v_full_barrier(int stage) {
    return k_full_barrier(k_stages + stage);
}
DEVICE u32 q_group_smem(int group) { // of the warpgroup's rows
    return smem_address(smem) + q_smem + group * panels * q_panel_bytes;
}
DEVICE u32 q_full_barrier() {
    return v_full_barrier(v_stages);
}
DEVICE u32 empty_barrier(u32 full) {
    return full + 8;
}

DEVICE void init_barriers() {
    if (threadIdx.x == 0) {
        for (int i = 0; i < k_stages + v_stages; ++i) {
            mbarrier_init(k_full_barrier(i), 1);
            mbarrier_init(empty_barrier(k_full_barrier(i)),
                          multicast * groups_m * 4); // of each warp of the set that reads the stage
        }
        if constexpr (q_in_smem) {
            mbarrier_init(q_full_barrier(), 1);
            mbarrier_init(empty_barrier(q_full_barrier()), groups * 4);
        }
        fence_mbarrier_init();
    }
    __syncthreads(); // the barriers are initialised for all threads
}

// Waits until the load into the stage has completed.
DEVICE void consumer_wait(u32 full, u32 phase) {
    mbarrier_wait(full, phase);
}

// Signals that the warp has read the stage.
DEVICE void consumer_release(u32 full) {
    if (threadIdx.x % 32 == 0)
        mbarrier_arrive(empty_barrier(full));
    __syncwarp();
}

// The same for a stage of K or V, which every block of the cluster loads a share of.
DEVICE void consumer_release_stage(u32 full) {
    if constexpr (multicast == 1)
        consumer_release(full);
    else if (threadIdx.x % 32 < multicast)
        mbarrier_arrive_cluster(map_to_block(empty_barrier(full), threadIdx.x % 32));
    __syncwarp();
}

// A block must not end while others of its cluster may still signal at its barriers.
DEVICE void leave_cluster() {
    if constexpr (multicast > 1) {
        __syncwarp();
        cluster_arrive();
        cluster_wait();
    }
}

// The single thread that issues the TMA loads, with its position in both pipelines.
struct tma_loader {
    const tensor_map &q_map, &k_map, &v_map;
    pipeline_state<k_stages> k;
    pipeline_state<v_stages> v;
    pipeline_state<1> q;
    int k_tile, v_tile; // the next tile of K and of V

    DEVICE void init(const work_unit &work) {
        k_tile = v_tile = work.first_tile;
    }

    // Acquires the next stage (waits until it is empty) and issues the load of a tile into it. A
    // wait for parity 1 on a fresh barrier returns immediately, so the first round does not wait.
    template <int stages>
    DEVICE void load(pipeline_state<stages> &state, u32 full, u32 stage_smem, const tensor_map &map,
                     int &next_tile, const work_unit &work) {
        mbarrier_wait(empty_barrier(full), state.phase ^ 1);
        mbarrier_arrive_expect_bytes(full, tile_bytes);
        constexpr int share = block_n / multicast;
        const int first = multicast > 1 ? cluster_rank() * share : 0; // of this block's share
#pragma unroll
        for (int i = 0; i < panels; ++i)
            if constexpr (multicast > 1)
                tma_load_multicast((1 << multicast) - 1, stage_smem + i * panel_bytes + first * 128,
                                   map, full, i * 64, next_tile * block_n + first, work.kv_head,
                                   work.batch);
            else
                tma_load(stage_smem + i * panel_bytes, map, full, i * 64,
                         work.first_key + next_tile * block_n, work.kv_head, work.batch);
        state.advance(1);
        ++next_tile;
    }

    // Queries past the end are zeros.
    DEVICE void load_q(const work_unit &work) {
        if (!q_in_smem || (varlen && kv_splits == 1 && work.is_behind_end()))
            return;
        const u32 full = q_full_barrier();
        mbarrier_wait(empty_barrier(full), q.phase ^ 1);
        mbarrier_arrive_expect_bytes(full, q_bytes);
#pragma unroll
        for (int i = 0; i < groups_m * panels; ++i)
            tma_load(q_group_smem(0) + i * q_panel_bytes, q_map, full, i % panels * 64,
                     work.first_query + work.first_row + i / panels * group_queries, work.head,
                     work.batch);
        q.advance(1);
    }
    DEVICE void load_k(const work_unit &work) {
        load(k, k_full_barrier(k.stage), k_stage_smem(k.stage), k_map, k_tile, work);
    }
    DEVICE void load_v(const work_unit &work) {
        load(v, v_full_barrier(v.stage), v_stage_smem(v.stage), v_map, v_tile, work);
    }

    // Issues all loads of a work unit, in the order of consumption. K runs one tile ahead of V,
    // because a consumer with `overlap` waits for it before it releases V.
    DEVICE void load_all(const work_unit &work) {
        load_q(work);
        for (init(work); v_tile < work.end_tile; load_v(work))
            while (k_tile < min(v_tile + 1 + groups_kv, work.end_tile))
                load_k(work);
    }
};

// Without a producer warp, one consumer thread issues the loads as stages become free: the first
// thread of the last warpgroup of set 0, which sees the most keys.
struct inline_producer {
    tma_loader loader;
    const work_unit &work;
    bool issues_loads;

    DEVICE void issue_q() {
        if (!has_producer && issues_loads)
            loader.load_q(work);
        __syncwarp();
    }
    // Issues the loads of K (V) into stages whose tiles before `tile` have been, or will soon be,
    // read by all consumers.
    DEVICE void issue_k(int tile) {
        if constexpr (has_producer)
            return;
        if (issues_loads)
            while (loader.k_tile < min(tile + k_stages, work.end_tile))
                loader.load_k(work);
        __syncwarp();
    }
    DEVICE void issue_v(int tile) {
        if constexpr (has_producer)
            return;
        if (issues_loads)
            while (loader.v_tile < min(tile + v_stages, work.end_tile))
                loader.load_v(work);
        __syncwarp();
    }
};

// With a spare stage, a new load waits for the release of the previous tile, which the other warps
// have read by now; without one, for the release of the current tile.
constexpr int k_issue_lag = k_stages > groups_kv ? 0 : groups_kv;
constexpr int v_issue_lag = v_stages > groups_kv ? 0 : groups_kv;
