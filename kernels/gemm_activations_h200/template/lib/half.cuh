// Conversions between half and float, and arithmetic on pairs of halves packed into 32 bits
// (the element with the lower index in the low 16 bits).
#ifndef EVOTILE_LIB_HALF
#define EVOTILE_LIB_HALF

#include "lib/types.cuh"

DEVICE float half_to_float(f16 value) {
    float result;
    asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value.bits));
    return result;
}

// Rounds to nearest even.
DEVICE f16 float_to_half(float value) {
    f16 result;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
    return result;
}

// Two floats rounded to nearest even and packed: `low` in bits 0-15, `high` in bits 16-31.
DEVICE u32 pack_half2(float low, float high) {
    u32 result;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
    return result;
}

DEVICE float low_half_to_float(u32 pair) {
    return half_to_float(f16{static_cast<u16>(pair)});
}

DEVICE float high_half_to_float(u32 pair) {
    return half_to_float(f16{static_cast<u16>(pair >> 16)});
}

// The two products of the halves of a and b, rounded to half.
DEVICE u32 multiply_half2(u32 a, u32 b) {
    u32 result;
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
    return result;
}

#endif
