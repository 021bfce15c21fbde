/* x = before + update; y = x / rms(x) * weight in double precision on the CPU. */
#include <math.h>
#include <stdint.h>

/* dimensions: ROWS, COLS. tensors: x as a double, update and weight as stored, y as a double, then
   x before the call as stored. */
void residual_inplace_reference(const int64_t *dimensions, void *const *tensors) {
    double *x = tensors[0], *y = tensors[3];
    const float *update = tensors[1], *weight = tensors[2], *before = tensors[4];
    int64_t rows = dimensions[0], cols = dimensions[1];

    for (int64_t r = 0; r < rows; ++r) {
        double squares = 0;

        for (int64_t i = r * cols; i < (r + 1) * cols; ++i) {
            x[i] = (double)before[i] + update[i];
            squares += x[i] * x[i];
        }
        for (int64_t i = r * cols; i < (r + 1) * cols; ++i)
            y[i] = x[i] / sqrt(squares / (double)cols + 1e-6) * weight[i - r * cols];
    }
}
