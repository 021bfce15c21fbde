// e4m3 numbers, 8 bits each, as pairs of 16-bit elements, which hold every one of them exactly.
// Four numbers are a 32-bit word, the first in its low byte. NaN stays one only on sm_89 and later,
// as f16.
#ifndef EVOTILE_LIB_FP8
#define EVOTILE_LIB_FP8

#include "lib/half.cuh"
#include "lib/types.cuh"

// Two numbers in the upper bytes of two halves as a pair. Sign, exponent and fraction move to their
// places; a multiplication, which is exact for subnormal numbers too, adds the biases' difference.
template <typename element> DEVICE u32 widen_upper_bytes(u32 pair);

template <> DEVICE u32 widen_upper_bytes<f16>(u32 pair) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
    u32 result;
    asm("{ .reg .b16 two; cvt.u16.u32 two, %1; cvt.rn.f16x2.e4m3x2 %0, two; }"
        : "=r"(result)
        : "r"(__byte_perm(pair, 0, 0x4431)));
    return result;
#else
    return multiply_half2((pair >> 1 & 0x3f803f80) | (pair & 0x80008000), 0x5c005c00); // 2^8
#endif
}

template <> DEVICE u32 widen_upper_bytes<bf16>(u32 pair) {
    u32 result;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;"
        : "=r"(result)
        : "r"((pair >> 4 & 0x07f007f0) | (pair & 0x80008000)), "r"(0x7b807b80), // 2^120
          "r"(0x80008000));                                                     // -0
    return result;
}

// Numbers 0 and 1, 2 and 3, 0 and 2, 1 and 3 of a word.
template <typename element> DEVICE u32 widen_low(u32 four) {
    return widen_upper_bytes<element>(__byte_perm(four, 0, 0x1404));
}

template <typename element> DEVICE u32 widen_high(u32 four) {
    return widen_upper_bytes<element>(__byte_perm(four, 0, 0x3424));
}

template <typename element> DEVICE u32 widen_even(u32 four) {
    return widen_upper_bytes<element>(four << 8 & 0xff00ff00);
}

template <typename element> DEVICE u32 widen_odd(u32 four) {
    return widen_upper_bytes<element>(four & 0xff00ff00);
}

#endif
