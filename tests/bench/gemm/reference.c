/* C = A B in double precision on the CPU. */
#include <stdint.h>

/* dimensions: M, N, K. tensors: a and b as stored, c as doubles. */
void gemm_reference(const int64_t *dimensions, void *const *tensors) {
    int64_t rows = dimensions[0], columns = dimensions[1], length = dimensions[2];
    const float *a = tensors[0], *b = tensors[1];
    double *c = tensors[2];

    for (int64_t row = 0; row < rows; ++row)
        for (int64_t column = 0; column < columns; ++column) {
            double sum = 0;
            for (int64_t k = 0; k < length; ++k)
                sum += (double)a[row * length + k] * b[k * columns + column];
            c[row * columns + column] = sum;
        }
}
