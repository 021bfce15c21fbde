// y = SCALE x in float.

// The number of an 8-bit float with so many bits of fraction and this exponent bias.
__device__ float from_f8(int bits, int fraction_bits, int bias) {
    const int exponent = (bits & 127) >> fraction_bits, fraction = bits & ((1 << fraction_bits) - 1);
    const int whole = exponent > 0 ? fraction + (1 << fraction_bits) : fraction;
    const float magnitude = ldexpf((float)whole, (exponent > 0 ? exponent : 1) - bias - fraction_bits);
    return bits & 128 ? -magnitude : magnitude;
}

__device__ unsigned short to_half(float value) {
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}

extern "C" __global__ void scale_fp8_plain(const unsigned char *x, unsigned short *y, double scale, int ROWS, int COLS,
                                        int wide) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < ROWS * COLS)
        y[i] = to_half((float)scale * from_f8(x[i], wide ? 2 : 3, wide ? 15 : 7));
}
