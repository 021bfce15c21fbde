// Conversions between bfloat16 and float; half.cuh has the same for halves.
#ifndef EVOTILE_LIB_BFLOAT
#define EVOTILE_LIB_BFLOAT

#include "lib/types.cuh"

DEVICE float bfloat_to_float(bf16 value) {
    return __uint_as_float(static_cast<u32>(value.bits) << 16);
}

// Rounds to nearest even. sm_80 and later.
DEVICE bf16 float_to_bfloat(float value) {
    bf16 result;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
    return result;
}

// Two floats rounded to nearest even and packed: `low` in bits 0-15, `high` in bits 16-31. sm_80
// and later.
DEVICE u32 pack_bfloat2(float low, float high) {
    u32 result;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
    return result;
}

#endif
