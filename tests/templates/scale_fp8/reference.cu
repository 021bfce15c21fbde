// y = SCALE x in double precision.

// The number of an 8-bit float with so many bits of fraction and this exponent bias.
__device__ double from_f8(int bits, int fraction_bits, int bias) {
    const int exponent = (bits & 127) >> fraction_bits, fraction = bits & ((1 << fraction_bits) - 1);
    const int whole = exponent > 0 ? fraction + (1 << fraction_bits) : fraction;
    const double magnitude = ldexp((double)whole, (exponent > 0 ? exponent : 1) - bias - fraction_bits);
    return bits & 128 ? -magnitude : magnitude;
}

extern "C" __global__ void scale_fp8_reference(const unsigned char *x, double *y, double scale, int ROWS, int COLS,
                                        int wide) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < ROWS * COLS)
        y[i] = scale * from_f8(x[i], wide ? 2 : 3, wide ? 15 : 7);
}
