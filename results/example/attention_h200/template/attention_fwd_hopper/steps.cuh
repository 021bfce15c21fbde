// A part of kernel.cu: what a warpgroup does with one tile of keys.

DEVICE void load_q(q_fragments &q_rmem, const element *q_gmem, int first_row, const problem &all) {
#pragma unroll
    for (int k = 0; k < head_dim / 16; ++k)
        load_left_gmem(q_rmem[k], q_gmem, all.q.row, first_row, all.S, k);
}

// Starts the scores Q K^T of the warpgroup's queries and a tile of keys.
DEVICE void start_scores(score_sums &s_rmem, const q_fragments &q_rmem, u32 k_smem) {
    const u64 k_operand = matrix_descriptor(k_smem, 16, 1024, swizzle::by_128);
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < head_dim / 16; ++k)
        wgmma<element>(s_rmem, q_rmem[k], advance(k_operand, k / 4 * panel_bytes + k % 4 * 32),
                       k > 0);
    wgmma_commit();
}

// Starts O += P V.
DEVICE void start_accumulate(o_sums &o_rmem, const weight_fragments &p_rmem, u32 v_smem) {
    const u64 v_operand = matrix_descriptor(v_smem, panel_bytes, 1024, swizzle::by_128);
    wgmma_fence();
#pragma unroll
    for (int n = 0; n < block_n / 16; ++n)
        wgmma<element, major::mn>(o_rmem, p_rmem[n], advance(v_operand, n * 2048), true);
    wgmma_commit();
}

// Sets the scores of keys past the end, and of keys that a query must not see, to minus infinity.
DEVICE void mask(score_sums &s_rmem, const walk &w, const place &p) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int seen =
            seen_keys(w.row + i / 2 * 8 + 1, w.S, w.S_KV) - (w.tile * block_n + p.t * 2 + i % 2);
#pragma unroll
        for (int n = 0; n < n_tiles; ++n)
            if (n * 8 >= seen)
                s_rmem[n * 4 + i] = minus_infinity;
    }
}

// What a sum taken at `largest` counts for at `common`, which is no less.
DEVICE float weight_at(float largest, float common, float scale) {
    return largest == minus_infinity ? 0.0f : exp2_fast((largest - common) * scale);
}

// 2^(scale * (score - m)) is computed as 2^(scale * score - scale * m), one multiply-add. Where
// scale * m is beyond 2^23 its rounding could exceed the range of a half. There neighbouring scores
// make powers of 2 apart, and a power of two for the scale, which makes the product exact, does no
// harm.
DEVICE float row_scale(float largest, float scale) {
    const float power_below = __int_as_float(__float_as_int(scale) & 0x7f800000);
    return fabsf(largest * scale) < 8388608.0f ? scale : power_below;
}

// The largest of the thread's scores of each of its rows.
DEVICE void find_largest(float (&largest)[2], const score_sums &s_rmem) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        float even = s_rmem[h * 2], odd = s_rmem[h * 2 + 1];
#pragma unroll
        for (int n = 1; n < n_tiles; ++n) {
            even = fmaxf(even, s_rmem[n * 4 + h * 2]);
            odd = fmaxf(odd, s_rmem[n * 4 + h * 2 + 1]);
        }
        largest[h] = fmaxf(even, odd);
    }
}

// Whether in some row of the warp scores outgrew what weights have headroom for: until they do, a
// lazy m may stay behind, for sums and O are at the same m, whatever it is.
DEVICE bool outgrown(const float (&largest)[2], const row_state &rows, const problem &all) {
    return __any_sync(full_warp, (largest[0] - rows.largest[0]) * all.scale > headroom ||
                                     (largest[1] - rows.largest[1]) * all.scale > headroom);
}

// Raises m to the scores' maximum, and brings l to the new m; what O must be multiplied by.
DEVICE void raise(float (&old_weight)[2], row_state &rows, const float (&largest)[2],
                  const problem &all) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        const float before = rows.largest[h];
        rows.largest[h] = fmaxf(before, lanes_max<4>(largest[h]));
        old_weight[h] = weight_at(before, rows.largest[h], all.scale);
        rows.sum[h] *= old_weight[h];
        rows.scale[h] = row_scale(rows.largest[h], all.scale);
        rows.shift[h] = rows.largest[h] == minus_infinity ? 0.0f : rows.largest[h] * rows.scale[h];
    }
}

DEVICE void rescale(o_sums &o_rmem, const float (&old_weight)[2]) {
#pragma unroll
    for (int i = 0; i < o_registers; ++i)
        o_rmem[i] *= old_weight[i / 2 % 2];
}

// The weight exp(score - m) of score `i` of a thread's.
DEVICE float weigh(const score_sums &s_rmem, const row_state &rows, int i) {
    const float exponent = s_rmem[i] * rows.scale[i / 2 % 2] - rows.shift[i / 2 % 2];
    return i / 4 % 8 < polynomial_exp ? exp2_polynomial(exponent) : exp2_fast(exponent);
}

// Turns all scores into weights.
DEVICE void weigh_all(score_sums &s_rmem, const row_state &rows) {
#pragma unroll
    for (int i = 0; i < score_registers; ++i)
        s_rmem[i] = weigh(s_rmem, rows, i);
}

// Rounds weights for the product with V, and adds them up.
DEVICE void take_weights(weight_fragments &p_rmem, row_state &rows, const score_sums &s_rmem) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        float even = s_rmem[h * 2], odd = s_rmem[h * 2 + 1];
#pragma unroll
        for (int n = 1; n < n_tiles; ++n) {
            even += s_rmem[n * 4 + h * 2];
            odd += s_rmem[n * 4 + h * 2 + 1];
        }
        rows.sum[h] += even + odd;
    }
#pragma unroll
    for (int i = 0; i < score_registers / 2; ++i)
        p_rmem[i / 4][i % 4] = pack_pair<element>(s_rmem[i * 2], s_rmem[i * 2 + 1]);
}

// Both at once, of the scores from `first` to before `end`; the scores stay.
DEVICE void weigh_and_take(weight_fragments &p_rmem, float (&sum)[4], const score_sums &s_rmem,
                           const row_state &rows, int first, int end) {
#pragma unroll
    for (int i = first; i < end; i += 2) {
        const float even = weigh(s_rmem, rows, i), odd = weigh(s_rmem, rows, i + 1);
        sum[i % 4] = i < 4 ? even : sum[i % 4] + even;
        sum[i % 4 + 1] = i < 4 ? odd : sum[i % 4 + 1] + odd;
        p_rmem[i / 8][i / 2 % 4] = pack_pair<element>(even, odd);
    }
}

// Warpgroups take turns at what stands between these two, round robin; end_turn before the first
// lets the first begin. Each takes part as often as the others.
DEVICE void begin_turn(const place &p) {
    if constexpr (turns)
        barrier_sync(2 + p.group, 256); // the warpgroup before has ended its turn
}
DEVICE void end_turn(const place &p) {
    if constexpr (turns)
        barrier_arrive(2 + (p.group + 1) % groups, 256);
}
