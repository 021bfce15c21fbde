/* Softmax of rows in double precision on the CPU: y = exp(x - max) / sum, row by row. */
#include <math.h>
#include <stdint.h>

static double from_half(uint16_t bits) {
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double magnitude = exponent == 31  ? (fraction ? NAN : INFINITY)
                       : exponent == 0 ? ldexp(fraction, -24)
                                       : ldexp(fraction + 1024, exponent - 25);
    return bits >> 15 ? -magnitude : magnitude;
}

/* dimensions: ROWS, COLS, F32. tensors: x as stored, y as doubles. */
void softmax_rows_reference(const int64_t *dimensions, void *const *tensors) {
    int64_t rows = dimensions[0], columns = dimensions[1], is_float = dimensions[2];
    double *y = tensors[1];

    for (int64_t row = 0; row < rows; ++row, y += columns) {
        double row_max = -INFINITY, sum = 0;

        for (int64_t column = 0; column < columns; ++column) {
            int64_t n = row * columns + column;

            y[column] = is_float ? ((const float *)tensors[0])[n]
                                 : from_half(((const uint16_t *)tensors[0])[n]);
            row_max = fmax(row_max, y[column]);
        }
        for (int64_t column = 0; column < columns; ++column) {
            y[column] = exp(y[column] - row_max);
            sum += y[column];
        }
        for (int64_t column = 0; column < columns; ++column)
            y[column] /= sum;
    }
}
