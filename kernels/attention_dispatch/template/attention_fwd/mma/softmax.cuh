// Included by kernel.cu: masking and online softmax, between the two matrix products.

// With a soft cap c: replaces scores by tanh(scale * score / c), which the softmax scales by c.
DEVICE void cap_scores(score_fragments &s_rmem, float cap_scale) {
    if constexpr (soft_cap > 0) {
#pragma unroll
        for (int i = 0; i < m_tiles * n_tiles * 4; ++i) {
            float &score = s_rmem[i / 4 / n_tiles][i / 4 % n_tiles][i % 4];
            score = tanh_fast(score * cap_scale);
        }
    }
}

// Sets the scores of keys past the end, and of keys that the causal mask or the window hides, to
// minus infinity. Most tiles need no mask.
DEVICE void mask(score_fragments &s_rmem, int tile, const work_unit &work,
                 const thread_coords &thread) {
    const int first_row = work.first_row + thread.first_row,
              first_key = tile * block_n + thread.first_key;
    const int unmasked_end = // end of the keys visible to all queries of the warp
        causal ? min(work.S_KV, first_row + work.S_KV - work.S + 1) : work.S_KV;
    const int unmasked_begin =
        window ? first_row + warp_rows + work.S_KV - work.S - window : first_key;
    if (first_key + warp_keys <= unmasked_end && first_key >= unmasked_begin)
        return;
#pragma unroll
    for (int m = 0; m < m_tiles; ++m)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int row = first_row + m * 16 + thread.g + i / 2 * 8;
            const int end = causal ? min(work.S_KV, row + work.S_KV - work.S + 1) : work.S_KV;
            const int visible = end - (first_key + thread.t * 2 + i % 2);
            const int passed = // keys before the window
                window ? row + work.S_KV - work.S - window + 1 - (first_key + thread.t * 2 + i % 2)
                       : 0;
#pragma unroll
            for (int n = 0; n < n_tiles; ++n)
                if (n * 8 >= visible || (window && n * 8 < passed))
                    s_rmem[m][n][i] = minus_infinity;
        }
}

// Online softmax: replaces scores with probabilities exp(score - m) for the updated m of each row,
// rescales l and O of the previous tiles to the new m, and adds the probabilities to l.
DEVICE void online_softmax(score_fragments &s_rmem, row_state &rows, o_fragments &o_rmem,
                           float scale_given) {
#pragma unroll
    for (int m = 0; m < m_tiles; ++m) {
        float correction[2];
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            float new_max = rows.row_max[m][h], tile_sum = 0;
#pragma unroll
            for (int n = 0; n < n_tiles; ++n)
                new_max = fmaxf(new_max, fmaxf(s_rmem[m][n][h * 2], s_rmem[m][n][h * 2 + 1]));
            new_max = lanes_max<4>(new_max);
            const float scale = exact_scale(new_max, scale_given);
            const float shift = new_max == minus_infinity ? 0.0f : new_max * scale;
#pragma unroll
            for (int i = 0; i < n_tiles * 2; ++i) {
                float &probability = s_rmem[m][i / 2][h * 2 + i % 2];
                probability = exp2_fast(probability * scale - shift);
                tile_sum += probability;
            }
            correction[h] = correction_factor(rows.row_max[m][h], new_max, scale_given);
            rows.row_sum[m][h] = rows.row_sum[m][h] * correction[h] + tile_sum;
            rows.row_max[m][h] = new_max;
        }
        if (lazy_rescale &&
            __all_sync(full_warp_mask, correction[0] == 1.0f && correction[1] == 1.0f))
            continue;
#pragma unroll
        for (int d = 0; d < d_tiles; ++d)
            scale_rows(o_rmem[m][d], correction);
    }
}
