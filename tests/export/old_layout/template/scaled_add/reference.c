/* c = 2 a + b + BIAS in double precision on the CPU. */
#include <stdint.h>

/* dimensions: ROWS, COLS, BIAS. tensors: a and b as stored, c as doubles. */
void scaled_add_reference(const int64_t *dimensions, void *const *tensors) {
    const float *a = tensors[0], *b = tensors[1];
    double *c = tensors[2];
    int64_t count = dimensions[0] * dimensions[1];

    for (int64_t i = 0; i < count; ++i)
        c[i] = 2.0 * a[i] + b[i] + (double)dimensions[2];
}
