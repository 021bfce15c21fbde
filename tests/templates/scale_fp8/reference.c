/* y = SCALE x in double precision on the CPU. */
#include <math.h>
#include <stdint.h>

/* The number of an 8-bit float with so many bits of fraction and this exponent bias. */
static double from_f8(int bits, int fraction_bits, int bias) {
    const int exponent = (bits & 127) >> fraction_bits,
              fraction = bits & ((1 << fraction_bits) - 1);
    const int whole = exponent > 0 ? fraction + (1 << fraction_bits) : fraction;
    const double magnitude = ldexp(whole, (exponent > 0 ? exponent : 1) - bias - fraction_bits);
    return bits & 128 ? -magnitude : magnitude;
}

/* A real dimension is stored as the bits of a float. */
static double real(int64_t bits) {
    union {
        uint32_t word;
        float number;
    } both;
    both.word = (uint32_t)bits;
    return both.number;
}

/* dimensions: ROWS, COLS, SCALE, E5M2. tensors: x as stored, of finite numbers; y as doubles. */
void scale_fp8_reference(const int64_t *dimensions, void *const *tensors) {
    const uint8_t *x = tensors[0];
    double *y = tensors[1];
    const int wide = dimensions[3] != 0;

    for (int64_t i = 0; i < dimensions[0] * dimensions[1]; ++i)
        y[i] = real(dimensions[2]) * from_f8(x[i], wide ? 2 : 3, wide ? 15 : 7);
}
