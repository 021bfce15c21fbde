// Fast single-precision functions, one instruction each.
#ifndef EVOTILE_LIB_MATH
#define EVOTILE_LIB_MATH

#include "lib/types.cuh"

// 2^x to about 2 units in the last place; 0 for minus infinity; results below 2^-126 become 0.
DEVICE float exp2_fast(float x) {
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

// exp2 to about 1e-4 of its value on the FMA units instead of the MUFU unit: 2^x = 2^i 2^f with i
// the nearest integer, which the addition leaves in the low bits of its sum; 2^f by a minimax
// polynomial (relative error) on [-1/2, 1/2]. Never below 2^-126. For x up to 127.
DEVICE float exp2_polynomial(float x) {
    x = fmaxf(x, -126.0f);
    const float shifted = x + 12582912.0f; // 1.5 * 2^23
    const float f = x - (shifted - 12582912.0f);
    const float power = ((0.0555049f * f + 0.2402265f) * f + 0.6931472f) * f + 1.0f;
    return __int_as_float(__float_as_int(power) + (__float_as_int(shifted) << 23));
}

// The logarithm of x to base 2, to about 2^-22 where it is near 0; minus infinity for 0.
DEVICE float log2_fast(float x) {
    float result;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

// 1/x to about 1 unit in the last place.
DEVICE float reciprocal_fast(float x) {
    float result;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

// The hyperbolic tangent to about 2e-7, an absolute error. (tanh.approx errs by 2^-11 of its value,
// which is too much where a large factor follows.)
DEVICE float tanh_fast(float x) {
    return 1.0f - 2.0f * reciprocal_fast(1.0f + exp2_fast(x * 2.8853900817779268f)); // 2 log2(e)
}

// 1/sqrt(x) to about 2^-22.9 of its value; infinity for 0 and below 2^-126.
DEVICE float rsqrt_fast(float x) {
    float result;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

#endif
