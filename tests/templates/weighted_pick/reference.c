/* Rows of x in a given order, weighted and summed, on the CPU. */
#include <stdint.h>

/* dimensions: ROWS, COLS. tensors: x, order, weights, codes, table, offsets, signs and bounds as
   stored, y as doubles; then the scalars SHIFT and GAIN. */
void weighted_pick_reference(const int64_t *dimensions, void *const *tensors) {
    const float *x = tensors[0];
    const int32_t *order = tensors[1];
    const float *weights = tensors[2];
    const uint8_t *codes = tensors[3];
    const float *table = tensors[4];
    const int32_t *offsets = tensors[5];
    const int8_t *signs = tensors[6];
    const int32_t *bounds = tensors[7];
    double *y = tensors[8];
    const int32_t *shift = tensors[9];
    const float *gain = tensors[10];
    const int64_t columns = dimensions[1];

    for (int64_t row = 0; row < dimensions[0]; ++row) {
        const int64_t from = order[row] * columns;
        const int32_t code = offsets[codes[row]];
        double sum = 0;
        for (int64_t i = 0; i < columns; ++i)
            sum += (double)weights[from + i] * x[from + (i + *shift) % columns];
        y[row] = *gain * sum + (double)signs[code] * table[code] + bounds[row] * 0.125;
    }
}
