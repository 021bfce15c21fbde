/* The heat equation's time steps in double precision on the CPU. */
#include <stdint.h>

/* dimensions: ROWS, COLS, STEPS. tensors: x as stored, y as doubles. */
void heat_steps_reference(const int64_t *dimensions, void *const *tensors) {
    const float *x = tensors[0];
    double *y = tensors[1];
    int64_t points = dimensions[1];
    for (int64_t i = 0; i < dimensions[0] * points; ++i)
        y[i] = x[i];
    for (int64_t row = 0; row < dimensions[0]; ++row)
        for (int64_t step = 0; step < dimensions[2]; ++step) {
            double *rod = y + row * points, left = rod[0];
            for (int64_t i = 1; i < points - 1; ++i) {
                double own = rod[i];
                rod[i] = own + 0.25 * (left - 2 * own + rod[i + 1]);
                left = own;
            }
        }
}
