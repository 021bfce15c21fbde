// Included by kernel.cu: the steps of a consumer warpgroup's mainloop iteration (one key tile).

// The queries of a warpgroup's work unit, the A operand of QK^T: in registers, or in shared memory,
// where the loader puts them. Once the last product with K has read them, a persistent block loads
// those of its next unit in their place, beside the last softmax, the last product with V and the
// epilogue.
struct query_tile {
    const element *q_gmem;
    const kernel_params &params;
    const thread_coords &thread;
    work_unit next;
    bool has_next = false;
    u32 phase = 0; // of the barrier of Q in shared memory
    q_fragments rmem;

    DEVICE void find_next(int work_index, int work_units) {
        has_next = work_index < work_units;
        if (has_next)
            next = decode_work_unit(work_index, params);
    }

    DEVICE void load_next() {
        if (q_in_smem || !has_next)
            return;
        const int head = next.head + row_head(thread.warp_row);
        const int first_row =
            next.first_row + thread.first_row / pack_heads + row_query(thread.warp_row);
        const element *head_gmem =
            q_gmem + to_sequence<varlen>(params.q, next.batch, head, next.first_query);
#pragma unroll
        for (int k = 0; k < head_dim / 16; ++k)
            if constexpr (row_head(8) > 0)
                load_a_gmem(rmem[k], {head_gmem, head_gmem + params.q.to_head(0, 1)}, params.q.row,
                            first_row, next.S, k);
            else
                load_a_gmem(rmem[k], head_gmem, params.q.row, first_row, next.S, k);
    }

    // Every warpgroup calls this for every unit, also if it sees no key: a wait at the barrier
    // distinguishes only the parity of the phase.
    DEVICE void acquire() {
        if constexpr (q_in_smem) {
            mbarrier_wait(q_full_barrier(), phase);
            phase ^= 1;
        }
    }
    DEVICE void release() {
        if constexpr (q_in_smem)
            consumer_release(q_full_barrier());
        else
            load_next();
    }
};

// Issues S = Q K^T of the warpgroup's queries and a key tile.
DEVICE void start_qk_gemm(score_accumulators &s_rmem, const query_tile &q, u32 k_smem) {
    const u64 k_operand = matrix_descriptor(k_smem, 16, 1024, swizzle::by_128);
    const u64 q_operand =
        matrix_descriptor(q_group_smem(q.thread.first_row / group_rows), 16, 1024, swizzle::by_128);
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < head_dim / 16; ++k) {
        const u64 keys = descriptor_advance(k_operand, k / 4 * panel_bytes + k % 4 * 32);
        if constexpr (q_in_smem)
            wgmma<element>(s_rmem,
                           descriptor_advance(q_operand, k / 4 * q_panel_bytes + k % 4 * 32), keys,
                           k > 0);
        else
            wgmma<element>(s_rmem, q.rmem[k], keys, k > 0);
    }
    wgmma_commit();
}

// Issues O += P V.
DEVICE void start_pv_gemm(o_accumulators &o_rmem, const p_fragments &p_rmem, u32 v_smem) {
    const u64 v_operand = matrix_descriptor(v_smem, panel_bytes, 1024, swizzle::by_128);
    wgmma_fence();
#pragma unroll
    for (int n = 0; n < block_n / 16; ++n)
        wgmma<element, major::mn>(o_rmem, p_rmem[n], descriptor_advance(v_operand, n * 2048), true);
    wgmma_commit();
}

// Sets the scores of keys past the end, and of keys that the causal mask hides, to minus infinity.
DEVICE void mask(score_accumulators &s_rmem, const mainloop_state &state,
                 const thread_coords &thread) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int visible =
            visible_keys(state.row + i / 2 * row_query(8) + 1, state.S, state.S_KV) -
            (state.tile * block_n + thread.t * 2 + i % 2);
#pragma unroll
        for (int n = 0; n < n_tiles; ++n)
            if (n * 8 >= visible)
                s_rmem[n * 4 + i] = minus_infinity;
    }
}

// The maximum of the thread's own scores in each of its rows.
DEVICE void thread_row_max(float (&row_max)[2], const score_accumulators &s_rmem) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        float even = s_rmem[h * 2], odd = s_rmem[h * 2 + 1];
#pragma unroll
        for (int n = 1; n < n_tiles; ++n) {
            even = fmaxf(even, s_rmem[n * 4 + h * 2]);
            odd = fmaxf(odd, s_rmem[n * 4 + h * 2 + 1]);
        }
        row_max[h] = fmaxf(even, odd);
    }
}

// True if in some row of the warp a score exceeds m by more than the threshold. Until then a lazy m
// may lag behind: l and O use the same m, so the result stays exact.
DEVICE bool needs_rescale(const float (&row_max)[2], const row_state &rows,
                          const kernel_params &params) {
    return __any_sync(full_warp_mask,
                      (row_max[0] - rows.row_max[0]) * params.scale > rescale_threshold_log2 ||
                          (row_max[1] - rows.row_max[1]) * params.scale > rescale_threshold_log2);
}

// Raises m to the maximum of the scores and rescales l to the new m; `correction` is the factor for
// O.
DEVICE void raise_row_max(float (&correction)[2], row_state &rows, const float (&row_max)[2],
                          const kernel_params &params) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        const float old_max = rows.row_max[h];
        rows.row_max[h] = fmaxf(old_max, lanes_max<4>(row_max[h]));
        correction[h] = correction_factor(old_max, rows.row_max[h], params.scale);
        rows.row_sum[h] *= correction[h];
        rows.scale[h] = exact_scale(rows.row_max[h], params.scale);
        rows.shift[h] = rows.row_max[h] == minus_infinity ? 0.0f : rows.row_max[h] * rows.scale[h];
    }
}

DEVICE void rescale_o(o_accumulators &o_rmem, const float (&correction)[2]) {
#pragma unroll
    for (int i = 0; i < o_registers; ++i)
        o_rmem[i] *= correction[i / 2 % 2];
}

// The probability exp(score - m) of the thread's score `i`.
DEVICE float exp_score(const score_accumulators &s_rmem, const row_state &rows, int i) {
    const float exponent = s_rmem[i] * rows.scale[i / 2 % 2] - rows.shift[i / 2 % 2];
    return i / 4 % 8 < polynomial_exp ? exp2_polynomial(exponent) : exp2_fast(exponent);
}

// Replaces all scores with probabilities.
DEVICE void exp_scores(score_accumulators &s_rmem, const row_state &rows) {
#pragma unroll
    for (int i = 0; i < score_registers; ++i)
        s_rmem[i] = exp_score(s_rmem, rows, i);
}

// Adds the probabilities to l and packs them to 16 bits for PV.
DEVICE void sum_and_pack(p_fragments &p_rmem, row_state &rows, const score_accumulators &s_rmem) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        float even = s_rmem[h * 2], odd = s_rmem[h * 2 + 1];
#pragma unroll
        for (int n = 1; n < n_tiles; ++n) {
            even += s_rmem[n * 4 + h * 2];
            odd += s_rmem[n * 4 + h * 2 + 1];
        }
        rows.row_sum[h] += even + odd;
    }
#pragma unroll
    for (int i = 0; i < score_registers / 2; ++i)
        p_rmem[i / 4][i % 4] = pack_pair<element>(s_rmem[i * 2], s_rmem[i * 2 + 1]);
}

// Computes, sums and packs the probabilities of scores [first, end) in one pass; the scores are
// kept.
DEVICE void exp_sum_and_pack(p_fragments &p_rmem, float (&tile_sum)[4],
                             const score_accumulators &s_rmem, const row_state &rows, int first,
                             int end) {
#pragma unroll
    for (int i = first; i < end; i += 2) {
        const float even = exp_score(s_rmem, rows, i), odd = exp_score(s_rmem, rows, i + 1);
        tile_sum[i % 4] = i < 4 ? even : tile_sum[i % 4] + even;
        tile_sum[i % 4 + 1] = i < 4 ? odd : tile_sum[i % 4 + 1] + odd;
        p_rmem[i / 8][i / 2 % 4] = pack_pair<element>(even, odd);
    }
}

// Ping-pong scheduling (FlashAttention-3, section 3.1): consumer warpgroups execute the code
// between pingpong_wait and pingpong_signal round robin: the softmax of a tile, or the issue of its
// products, so that those of one warpgroup run beside the softmax of another. The signal before the
// mainloop lets the first one begin. Every warpgroup must call the pair equally often.
template <bool enabled> DEVICE void pingpong_wait(const thread_coords &thread) {
    if constexpr (enabled)
        named_barrier_sync(2 + thread.warpgroup, 256); // the previous warpgroup has had its turn
}
template <bool enabled> DEVICE void pingpong_signal(const thread_coords &thread) {
    if constexpr (enabled)
        named_barrier_arrive(2 + (thread.warpgroup + 1) % groups, 256);
}
