// A part of kernel.cu: copies of tiles to shared memory.

// Where K and V of the n-th tile of keys of a unit lie: in buffer n % stages.
DEVICE u32 k_tile_smem(int tile, const unit &u) {
    return smem_address(smem) + static_cast<u32>(tile - u.first_tile) % k_stages * kv_tile::bytes;
}

DEVICE u32 v_tile_smem(int tile, const unit &u) {
    return smem_address(smem) + v_smem +
           static_cast<u32>(tile - u.first_tile) % v_stages * kv_tile::bytes;
}

// Copies a tile of K to its buffer, or starts to; past the unit's last there is nothing to copy.
DEVICE void load_k(const element *k_gmem, const unit &u, int tile, const problem &all) {
    if (tile < u.end_tile)
        kv_tile::load<kv_copy>(k_tile_smem(tile, u), k_gmem, all.k.row, tile * block_n, all.S_KV);
}

DEVICE void load_v(const element *v_gmem, const unit &u, int tile, const problem &all) {
    if (tile < u.end_tile)
        kv_tile::load<kv_copy>(v_tile_smem(tile, u), v_gmem, all.v.row, tile * block_n, all.S_KV);
}

// The queries, to registers or to shared memory. A unit without keys must not start a copy: nobody
// would wait for it.
DEVICE void load_q(q_fragments &q_rmem, const element *q_gmem, const unit &u, const problem &all,
                   const place &p) {
    if (u.first_tile == u.end_tile)
        return;
    if constexpr (!q_in_registers) {
        constexpr copy how = copy_plain ? copy::through_registers : copy::in_flight;
        q_tile::load<how>(smem_address(smem) + q_smem, q_gmem, all.q.row, u.first_row, all.S);
    } else {
#pragma unroll
        for (int i = 0; i < m_tiles * k_steps; ++i)
            load_left_gmem(q_rmem[i / k_steps][i % k_steps], q_gmem, all.q.row,
                           u.first_row + p.first_row + i / k_steps * 16, all.S, i % k_steps);
    }
}

// cp.async groups are closed in the order in which they are waited for: one for each tile (joint),
// or one for V and one for K that comes after it (apart). They may be empty, so that always equally
// many are younger than the one waited for. Started here are the copies that come before the first
// tile, as if it were the last of several that have no scores: with Q, K of the first k_stages
// tiles (joint: one less, unless overlap has it a tile ahead) and V of v_stages - 1. (Apart and
// overlap: K of one more tile follows when the first is read.)
DEVICE void start_copies(const element *k_gmem, const element *v_gmem, const unit &u,
                         const problem &all) {
    constexpr int k_ahead = (copy_apart ? k_stages : k_stages - 1) + overlap;
    constexpr int v_ahead = v_stages - 1;
    constexpr int turns = copy_plain ? 0 : max_of(k_ahead, v_ahead);
#pragma unroll
    for (int turn = -turns; turn < 0; ++turn) {
        if (turn + v_ahead >= 0)
            load_v(v_gmem, u, u.first_tile + turn + v_ahead, all);
        if (copy_apart && (turn > -turns || turn + v_ahead >= 0)) // the first would be of nothing
            cp_async_commit();
        if (copy_apart && overlap && turn == -1)
            return;
        if (turn + k_ahead >= 0)
            load_k(k_gmem, u, u.first_tile + turn + k_ahead, all);
        cp_async_commit();
    }
}
