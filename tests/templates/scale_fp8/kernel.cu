// y = SCALE x, two elements at a time; the last one alone if their number is odd.

// Two 8-bit floats as two halves, the first in the lower one.
__device__ unsigned widen_by_instruction(unsigned short two) {
    unsigned halves;
#if E5M2
    asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(halves) : "h"(two));
#else
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(two));
#endif
    return halves;
}

__device__ float from_half(unsigned bits) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"((unsigned short)bits));
    return value;
}

// The exponent and the fraction of an 8-bit float are those of a float with another bias.
__device__ float widen_by_integers(unsigned bits) {
    constexpr int bias = (E5M2 ? 15 : 7) + (FAULT == FAULT_BIAS), fraction_bits = E5M2 ? 2 : 3;
    const float magnitude =
        __uint_as_float((bits & 127u) << (23 - fraction_bits)) * __uint_as_float((254u - bias) << 23);
    return bits & 128u ? -magnitude : magnitude;
}

__device__ unsigned short scaled(unsigned short two, int which, float scale) {
    unsigned short bits;
    const float value = CONVERT == CONVERT_INTEGER ? widen_by_integers(two >> 8 * which & 255u)
                                                   : from_half(widen_by_instruction(two) >> 16 * which);
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(scale * value));
    return bits;
}

extern "C" __global__ void scale_fp8(const unsigned char *x, unsigned short *y, float scale, int ROWS, int COLS) {
    const int count = ROWS * COLS;
    for (int i = 2 * (blockIdx.x * THREADS + threadIdx.x); i < count; i += 2 * gridDim.x * THREADS) {
        unsigned short two = x[i];
        if (i + 1 < count)
            two = *(const unsigned short *)(x + i);
        if (FAULT == FAULT_WIDE_LOAD && i + 3 < count && i % 4 == 0)
            two = (unsigned short)*(const volatile unsigned *)(x + i);
        y[i] = scaled(two, 0, scale);
        if (i + 1 < count)
            y[i + 1] = scaled(two, 1, scale);
    }
}
