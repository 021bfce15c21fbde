// Included by kernel.cu: loads of tiles to shared memory.

// Address of the stage that holds K (V) of a key tile: tiles rotate through the pipeline stages.
DEVICE u32 k_tile_smem(int tile, const work_unit &work) {
    return smem_address(smem) + static_cast<u32>(tile - work.first_tile) % k_stages * k_tile::bytes;
}

DEVICE u32 v_tile_smem(int tile, const work_unit &work) {
    return smem_address(smem) + v_smem +
           static_cast<u32>(tile - work.first_tile) % v_stages * v_tile::bytes;
}

// Loads a tile of K into its stage, or starts to. Past the last tile of the work unit there is
// nothing to load.
DEVICE void load_k(const element *k_gmem, const work_unit &work, int tile,
                   const kernel_params &params) {
    if (tile < work.end_tile)
        k_tile::load<kv_load_mode>(k_tile_smem(tile, work), k_gmem, params.k.row, tile * block_n,
                                   work.S_KV);
}

DEVICE void load_v(const element *v_gmem, const work_unit &work, int tile,
                   const kernel_params &params) {
    if (tile < work.end_tile)
        v_tile::load<kv_load_mode>(v_tile_smem(tile, work), v_gmem, params.v.row, tile * block_n,
                                   work.S_KV);
}

// Loads the queries to registers or to shared memory. A work unit without keys must not issue a
// load, since nothing would wait for it.
DEVICE void load_q(q_fragments &q_rmem, const element *q_gmem, const work_unit &work,
                   const kernel_params &params, const thread_coords &thread) {
    if (work.first_tile == work.end_tile)
        return;
    if constexpr (!q_in_registers) {
        constexpr load_mode mode = copy_plain ? load_mode::through_registers : load_mode::async_16;
        q_tile::load<mode>(smem_address(smem) + q_smem, q_gmem, params.q.row, work.first_row,
                           work.S);
    } else {
#pragma unroll
        for (int i = 0; i < m_tiles * k_steps; ++i)
            load_a_gmem(q_rmem[i / k_steps][i % k_steps], q_gmem, params.q.row,
                        work.first_row + thread.first_row + i / k_steps * 16, work.S, i % k_steps);
    }
}

// Pipeline prologue: issues the loads that precede the first mainloop iteration.
//
// cp.async groups are committed in the order in which they are waited for: one per tile (joint), or
// one for V and one for the K that follows it (apart). Groups may be empty, so that the number of
// groups younger than the one waited for is constant. The prologue issues what iterations before
// the first would have issued: with Q, K of the first k_stages tiles (joint: one less, unless
// overlap needs K one tile ahead) and V of the first v_stages - 1. With apart and overlap, K of one
// more tile follows when the first has been read.
DEVICE void load_prologue(const element *k_gmem, const element *v_gmem, const work_unit &work,
                          const kernel_params &params) {
    constexpr int k_ahead = (copy_apart ? k_stages : k_stages - 1) + overlap;
    constexpr int v_ahead = v_stages - 1;
    constexpr int iterations = copy_plain ? 0 : max_of(k_ahead, v_ahead);
#pragma unroll
    for (int iteration = -iterations; iteration < 0; ++iteration) {
        if (iteration + v_ahead >= 0)
            load_v(v_gmem, work, work.first_tile + iteration + v_ahead, params);
        if (copy_apart &&
            (iteration > -iterations || iteration + v_ahead >= 0)) // the first group would be empty
            cp_async_commit();
        if (copy_apart && overlap && iteration == -1)
            return;
        if (iteration + k_ahead >= 0)
            load_k(k_gmem, work, work.first_tile + iteration + k_ahead, params);
        cp_async_commit();
    }
}
