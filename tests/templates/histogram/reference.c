/* How often each remainder occurs, on the CPU: it adds to an output that is cleared before its
 * call. */
#include <stdint.h>

/* dimensions: N, BINS. tensors: the bytes, the counts as doubles. */
void histogram_reference(const int64_t *dimensions, void *const *tensors) {
    const uint8_t *keys = tensors[0];
    double *counts = tensors[1];

    for (int64_t i = 0; i < dimensions[0]; ++i)
        counts[keys[i] % dimensions[1]] += 1;
}
