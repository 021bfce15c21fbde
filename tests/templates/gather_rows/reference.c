/* Rows of a table by labels on the CPU. */
#include <stdint.h>

/* dimensions: N, ROWS, COLS. tensors: table, labels and mask as stored, y and skipped as doubles,
   keys as int64_t. */
void gather_rows_reference(const int64_t *dimensions, void *const *tensors) {
    const float *table = tensors[0];
    const uint64_t *labels = tensors[1];
    const uint8_t *mask = tensors[2];
    double *y = tensors[3];
    int64_t *keys = tensors[4];
    double *skipped = tensors[5];
    const uint64_t rows = (uint64_t)dimensions[1];
    const int64_t columns = dimensions[2];

    for (int64_t n = 0; n < dimensions[0]; ++n) {
        const int64_t row = (int64_t)(labels[n] % rows);
        for (int64_t i = 0; i < columns; ++i)
            y[n * columns + i] = mask[n] ? table[row * columns + i] : 0;
        keys[n] = (int64_t)(labels[n] ^ (uint64_t)n);
        skipped[n] = !mask[n];
    }
}
