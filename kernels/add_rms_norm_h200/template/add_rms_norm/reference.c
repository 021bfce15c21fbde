/* Residual add and RMS norm of rows in double precision on the CPU. */
#include <math.h>
#include <stdint.h>
#include <string.h>

static double from_bfloat(uint16_t bits) {
    uint32_t word = (uint32_t)bits << 16;
    float value;

    memcpy(&value, &word, sizeof value);
    return value;
}

static double from_half(uint16_t bits) {
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double magnitude = exponent == 31  ? (fraction ? NAN : INFINITY)
                       : exponent == 0 ? ldexp(fraction, -24)
                                       : ldexp(fraction + 1024, exponent - 25);
    return bits >> 15 ? -magnitude : magnitude;
}

/* dimensions: ROWS, COLS, EPSILON (the bits of a float), BF16. tensors: x as a double, residual and
   weight as stored, y as a double, then x before the call as stored. */
void add_rms_norm_reference(const int64_t *dimensions, void *const *tensors) {
    int64_t rows = dimensions[0], columns = dimensions[1], is_bfloat = dimensions[3];
    uint32_t epsilon_bits = (uint32_t)dimensions[2];
    double *x = tensors[0], *y = tensors[3];
    const uint16_t *residual = tensors[1], *weight = tensors[2], *before = tensors[4];
    float epsilon;

    memcpy(&epsilon, &epsilon_bits, sizeof epsilon);
    for (int64_t row = 0; row < rows; ++row) {
        double squares = 0;

        for (int64_t n = row * columns; n < (row + 1) * columns; ++n) {
            x[n] = is_bfloat ? from_bfloat(before[n]) + from_bfloat(residual[n])
                             : from_half(before[n]) + from_half(residual[n]);
            squares += x[n] * x[n];
        }
        for (int64_t column = 0; column < columns; ++column)
            y[row * columns + column] =
                x[row * columns + column] / sqrt(squares / (double)columns + epsilon) *
                (is_bfloat ? from_bfloat(weight[column]) : from_half(weight[column]));
    }
}
