/* c = a b^T of bytes in double precision, which is exact, on the CPU. */
#include <stdint.h>

/* dimensions: M, N, K. tensors: a and b as stored, c as doubles. */
void int8_product_reference(const int64_t *dimensions, void *const *tensors) {
    const int8_t *a = tensors[0], *b = tensors[1];
    double *c = tensors[2];
    int64_t rows = dimensions[0], columns = dimensions[1], terms = dimensions[2];

    for (int64_t row = 0; row < rows; ++row)
        for (int64_t column = 0; column < columns; ++column) {
            double sum = 0;
            for (int64_t k = 0; k < terms; ++k)
                sum += a[row * terms + k] * b[column * terms + k];
            c[row * columns + column] = sum;
        }
}
