// Eight unsigned 4-bit integers of a word as four pairs of 16-bit floats, each less 8: exact, by
// one bit operation and one multiply-add a pair. A 4-bit integer in the low bits of a mantissa
// whose exponent is fixed is that number plus a constant.
#ifndef EVOTILE_LIB_INT4
#define EVOTILE_LIB_INT4

#include "lib/types.cuh"

// a * b + c of two halves, or of two bfloats, each rounded once. sm_80 and later.
template <typename element> DEVICE u32 fma_pair(u32 a, u32 b, u32 c);

template <> DEVICE u32 fma_pair<f16>(u32 a, u32 b, u32 c) {
    u32 result;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
    return result;
}

template <> DEVICE u32 fma_pair<bf16>(u32 a, u32 b, u32 c) {
    u32 result;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
    return result;
}

// pairs[i] has the integers i (low half) and i + 4 of `word`, whose integer 0 is in bits 0 to 3.
template <typename element> DEVICE void unpack_int4(u32 word, u32 (&pairs)[4]);

template <> DEVICE void unpack_int4<f16>(u32 word, u32 (&pairs)[4]) {
#pragma unroll
    for (int i = 0; i < 4; i += 2, word >>= 8) {
        pairs[i] = fma_pair<f16>((word & 0x000f000f) | 0x64006400, 0x3c003c00,
                                 0xe408e408); // (1024 + n) - 1032
        pairs[i + 1] = fma_pair<f16>((word & 0x00f000f0) | 0x64006400, 0x2c002c00,
                                     0xd480d480); // (1024 + 16 n) / 16 - 72
    }
}

template <> DEVICE void unpack_int4<bf16>(u32 word, u32 (&pairs)[4]) {
#pragma unroll
    for (int i = 0; i < 4; ++i, word >>= 4)
        pairs[i] = fma_pair<bf16>((word & 0x000f000f) | 0x43004300, 0x3f803f80,
                                  0xc308c308); // (128 + n) - 136
}

#endif
