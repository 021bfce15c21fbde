/* C = A B in double precision on the CPU, an element at a time. */
#include <stdint.h>

/* dimensions: M, N, K. tensors: a and b as floats, c as doubles. */
void gemm_f32_reference(const int64_t *dimensions, void *const *tensors) {
    int64_t m = dimensions[0], n = dimensions[1], k = dimensions[2];
    const float *a = tensors[0], *b = tensors[1];
    double *c = tensors[2];

    for (int64_t row = 0; row < m; ++row)
        for (int64_t column = 0; column < n; ++column, ++c) {
            double sum = 0;

            for (int64_t i = 0; i < k; ++i)
                sum += (double)a[row * k + i] * (double)b[i * n + column];
            *c = sum;
        }
}
