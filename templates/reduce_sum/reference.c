/* The sum of N floats in double precision on the CPU, and that of their absolute values. */
#include <math.h>
#include <stdint.h>

/* dimensions: N. tensors: x as stored, the sum as a double, then its magnitude. */
void reduce_sum_reference(const int64_t *dimensions, void *const *tensors) {
    const float *x = tensors[0];
    double *sum = tensors[1], *sum_magnitude = tensors[2];

    *sum = *sum_magnitude = 0;
    for (int64_t n = 0; n < dimensions[0]; ++n) {
        *sum += x[n];
        *sum_magnitude += fabs((double)x[n]);
    }
}
