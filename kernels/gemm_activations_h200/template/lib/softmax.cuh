// The parts of an online softmax (FlashAttention): scores come in tiles; of each row the running
// maximum m, the sum l of exp(scale * (score - m)), and sums weighted alike are kept. `scale` is
// the softmax scale times log2(e), so that every exponential is a power of two.
#ifndef EVOTILE_LIB_SOFTMAX
#define EVOTILE_LIB_SOFTMAX

#include "lib/math.cuh"
#include "lib/types.cuh"

constexpr float log2_e = 1.4426950408889634f;

// The factor that brings sums accumulated at maximum `from` to the maximum `to` >= `from`.
DEVICE float correction_factor(float from, float to, float scale) {
    return from == minus_infinity ? 0.0f : exp2_fast((from - to) * scale);
}

// exp2(scale * (score - m)) is computed as exp2(scale * score - scale * m), one FMA. If |scale * m|
// >= 2^23, the rounding of the product could exceed the range of a half. Neighbouring scores then
// differ by powers of two, and rounding the scale down to a power of two, which makes the product
// exact, is harmless. It never becomes 0, as that of a denormal scale would: scores of minus infinity
// must stay so.
DEVICE float exact_scale(float row_max, float scale) {
    const float power_below = __int_as_float(max(__float_as_int(scale) & 0x7f800000, 1));
    return fabsf(row_max * scale) < 8388608.0f ? scale : power_below;
}

// A row whose scores have all come: its m, in units of `scale`, its l, and the factor that divides
// its weighted sums by l, 0 for a row without scores.
struct finished_row {
    float row_max, row_sum, scale, factor;
};

// A row with an attention sink: one more score, of a key without a value. It is given by its power
// of e, and may be minus infinity.
DEVICE finished_row finish_with_sink(float row_max, float row_sum, float scale, float sink) {
    const float own = row_max * scale, other = sink * log2_e, top = fmaxf(own, other);
    const float own_factor = correction_factor(own, top, 1.0f);
    const float sum = row_sum * own_factor + correction_factor(other, top, 1.0f);
    return {top, sum, 1.0f, sum > 0 ? own_factor / sum : 0.0f};
}

// The logarithm of the sum of exp(score), from m and l; minus infinity for a row without scores.
DEVICE float log_sum_exp(float row_max, float row_sum, float scale) {
    return row_max == minus_infinity ? minus_infinity
                                     : (row_max * scale + log2_fast(row_sum)) * (1.0f / log2_e);
}

#endif
