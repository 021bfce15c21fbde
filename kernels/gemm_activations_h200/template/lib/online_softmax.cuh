// An online softmax on the accumulators of m16n8k16 (mma.cuh): a warp has 16 rows, and a thread, with
// g = lane / 4 and t = lane % 4, columns of row g (h = 0) and of row g + 8 (h = 1).
#ifndef EVOTILE_LIB_ONLINE_SOFTMAX
#define EVOTILE_LIB_ONLINE_SOFTMAX

#include "lib/fragments.cuh"
#include "lib/math.cuh"
#include "lib/softmax.cuh"
#include "lib/types.cuh"
#include "lib/warp.cuh"

struct softmax_rows {
    float row_max[2] = {minus_infinity, minus_infinity}; // m, before scaling
    float row_sum[2] = {0, 0};                           // l, of this thread's keys
};

// Sets scores of keys at or past end[h], which may be negative, to minus infinity; the tile begins at
// first_key.
template <int n_tiles>
DEVICE void mask_scores(float (&scores)[n_tiles][4], const int (&end)[2], int first_key) {
    const int first_own = first_key + static_cast<int>(threadIdx.x % 4) * 2; // signed, as end[h] is
    if (first_key + n_tiles * 8 <= min(end[0], end[1]))
        return;
#pragma unroll
    for (int i = 0; i < n_tiles * 4; ++i)
        if (first_own + i / 4 * 8 + i % 2 >= end[i % 4 / 2])
            scores[i / 4][i % 4] = minus_infinity;
}

// Replaces scores by probabilities exp2(scale * (score - m)) at the updated m of each row, and
// rescales l and the sums O of the tiles before.
template <int n_tiles, int d_tiles>
DEVICE void online_softmax(float (&scores)[n_tiles][4], softmax_rows &rows, float (&o)[d_tiles][4],
                           float scale_given) {
    float correction[2];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        float new_max = rows.row_max[h], tile_sum = 0;
#pragma unroll
        for (int n = 0; n < n_tiles; ++n)
            new_max = fmaxf(new_max, fmaxf(scores[n][h * 2], scores[n][h * 2 + 1]));
        new_max = lanes_max<4>(new_max);
        const float scale = exact_scale(new_max, scale_given);
        const float shift = new_max == minus_infinity ? 0.0f : new_max * scale;
#pragma unroll
        for (int i = 0; i < n_tiles * 2; ++i) {
            float &probability = scores[i / 2][h * 2 + i % 2];
            probability = exp2_fast(probability * scale - shift);
            tile_sum += probability;
        }
        correction[h] = correction_factor(rows.row_max[h], new_max, scale_given);
        rows.row_sum[h] = rows.row_sum[h] * correction[h] + tile_sum;
        rows.row_max[h] = new_max;
    }
    if (__all_sync(full_warp_mask, correction[0] == 1.0f && correction[1] == 1.0f))
        return; // no maximum grew
#pragma unroll
    for (int d = 0; d < d_tiles; ++d)
        scale_rows(o[d], correction);
}

// What a part of the keys gives of a row: m, l, and four columns of the unnormalised O. Parts are
// added up at the largest m.
struct row_part {
    float row_max = minus_infinity, row_sum = 0, o[4] = {};

    DEVICE void add(float other_sum, const float4 &other_o, float factor) {
        row_sum += other_sum * factor;
        o[0] += other_o.x * factor;
        o[1] += other_o.y * factor;
        o[2] += other_o.z * factor;
        o[3] += other_o.w * factor;
    }
};

#endif
