/* y = a x, on the CPU. */
#include <stdint.h>
#include <string.h>

void vector_copy_reference(const int64_t *dimensions, void *const *tensors) {
    const int32_t bits = (int32_t)dimensions[1];
    float a;
    memcpy(&a, &bits, sizeof a);
    for (int64_t i = 0; i < dimensions[0]; i++)
        ((double *)tensors[1])[i] = (double)a * ((const float *)tensors[0])[i];
}
