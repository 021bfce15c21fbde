/* y = 2 x in double precision on the CPU. */
#include <math.h>
#include <stdint.h>

static double half_value(uint16_t bits) {
    int exponent = bits >> 10 & 31;
    double fraction = bits & 1023;
    double value = exponent == 0    ? ldexp(fraction, -24)
                   : exponent == 31 ? (fraction != 0 ? NAN : INFINITY)
                                    : ldexp(1024 + fraction, exponent - 25);
    return bits & 0x8000 ? -value : value;
}

/* dimensions: ROWS, COLS, SCALED. tensors: x as stored, y as doubles. */
void boxes_reference(const int64_t *dimensions, void *const *tensors) {
    const uint16_t *x = tensors[0];
    double *y = tensors[1];
    for (int64_t i = 0; i < dimensions[0] * dimensions[1]; ++i)
        y[i] = 2 * half_value(x[i]);
}
