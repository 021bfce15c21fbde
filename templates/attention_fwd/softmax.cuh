// A part of kernel.cu: what stands between the two products.

// Sets the scores of keys past the end, and of keys that a query must not see, to minus infinity.
// Most tiles have none.
DEVICE void mask(score_fragments &s_rmem, int tile, const unit &u, const problem &all,
                 const place &p) {
    const int first_row = u.first_row + p.first_row, first_key = tile * block_n + p.first_key;
    const int whole_end = // of the keys that all queries of the warp see
        causal ? min(all.S_KV, first_row + all.S_KV - all.S + 1) : all.S_KV;
    if (first_key + warp_keys <= whole_end)
        return;
#pragma unroll
    for (int m = 0; m < m_tiles; ++m)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int row = first_row + m * 16 + p.g + i / 2 * 8;
            const int end = causal ? min(all.S_KV, row + all.S_KV - all.S + 1) : all.S_KV;
            const int seen = end - (first_key + p.t * 2 + i % 2);
#pragma unroll
            for (int n = 0; n < n_tiles; ++n)
                if (n * 8 >= seen)
                    s_rmem[m][n][i] = minus_infinity;
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

// Turns scores into weights exp(score - m) for the new m of each row, brings l and O of the tiles
// before to the new m, and adds the weights to l.
DEVICE void online_softmax(score_fragments &s_rmem, row_state &rows, o_fragments &o_rmem,
                           float scale_given) {
#pragma unroll
    for (int m = 0; m < m_tiles; ++m) {
        float old_weight[2];
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            float largest = rows.largest[m][h], sum = 0;
#pragma unroll
            for (int n = 0; n < n_tiles; ++n)
                largest = fmaxf(largest, fmaxf(s_rmem[m][n][h * 2], s_rmem[m][n][h * 2 + 1]));
            largest = lanes_max<4>(largest);
            const float scale = row_scale(largest, scale_given);
            const float shift = largest == minus_infinity ? 0.0f : largest * scale;
#pragma unroll
            for (int i = 0; i < n_tiles * 2; ++i) {
                float &weight = s_rmem[m][i / 2][h * 2 + i % 2];
                weight = exp2_fast(weight * scale - shift);
                sum += weight;
            }
            old_weight[h] = weight_at(rows.largest[m][h], largest, scale_given);
            rows.sum[m][h] = rows.sum[m][h] * old_weight[h] + sum;
            rows.largest[m][h] = largest;
        }
        if (lazy_rescale && __all_sync(full_warp, old_weight[0] == 1.0f && old_weight[1] == 1.0f))
            continue;
#pragma unroll
        for (int d = 0; d < d_tiles; ++d)
            scale_rows(o_rmem[m][d], old_weight);
    }
}
