/* y = sqrt(|x| + 1), on the CPU. */
#include <math.h>
#include <stdint.h>

void newton_root_reference(const int64_t *dimensions, void *const *tensors) {
    for (int64_t i = 0; i < dimensions[0]; i++)
        ((double *)tensors[1])[i] = sqrt(fabs((double)((const float *)tensors[0])[i]) + 1);
}
