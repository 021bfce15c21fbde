/* z = ALPHA x + y in double precision on the CPU. */
#include <stdint.h>

/* dimensions: N, and ALPHA as the bits of a float. tensors: x and y as stored, z as doubles. */
void axpy_reference(const int64_t *dimensions, void *const *tensors) {
    const float *x = tensors[0], *y = tensors[1];
    double *z = tensors[2];
    union {
        uint32_t bits;
        float number;
    } alpha = {(uint32_t)dimensions[1]};

    for (int64_t i = 0; i < dimensions[0]; ++i)
        z[i] = (double)alpha.number * x[i] + y[i];
}
