/* The sum of N floats in double precision on the CPU, and that of their absolute values. */
#include <math.h>
#include <stdint.h>

/* dimensions: N. tensors: x as stored, the sum as a double, then its magnitude. */
void sum_two_pass_reference(const int64_t *dimensions, void *const *tensors) {
    const float *x = tensors[0];
    double *sum = tensors[1], *sum_magnitude = tensors[2];

    *sum = *sum_magnitude = 0;
    for (int64_t i = 0; i < dimensions[0]; ++i) {
        *sum += x[i];
        *sum_magnitude += fabs((double)x[i]);
    }
}
