/* Layer norm of rows in double precision on the CPU. */
#include <math.h>
#include <stdint.h>
#include <string.h>

static double element(const void *from, int64_t n, int64_t is_float) {
    uint32_t word;
    float value;

    if (is_float)
        return ((const float *)from)[n];
    word = (uint32_t)((const uint16_t *)from)[n] << 16;
    memcpy(&value, &word, sizeof value);
    return value;
}

/* dimensions: ROWS, COLS, EPSILON (the bits of a float), F32. tensors: x, weight and bias as
   stored, y as a double. */
void layer_norm_reference(const int64_t *dimensions, void *const *tensors) {
    int64_t rows = dimensions[0], columns = dimensions[1], is_float = dimensions[3];
    uint32_t epsilon_bits = (uint32_t)dimensions[2];
    double *y = tensors[3];
    float epsilon;

    memcpy(&epsilon, &epsilon_bits, sizeof epsilon);
    for (int64_t row = 0; row < rows; ++row) {
        int64_t start = row * columns;
        double mean = 0, variance = 0;

        for (int64_t c = 0; c < columns; ++c)
            mean += element(tensors[0], start + c, is_float) / (double)columns;
        for (int64_t c = 0; c < columns; ++c) {
            double deviation = element(tensors[0], start + c, is_float) - mean;

            variance += deviation * deviation / (double)columns;
        }
        for (int64_t c = 0; c < columns; ++c)
            y[start + c] = (element(tensors[0], start + c, is_float) - mean) /
                               sqrt(variance + epsilon) * element(tensors[1], c, is_float) +
                           element(tensors[2], c, is_float);
    }
}
