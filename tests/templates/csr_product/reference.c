/* A sparse matrix times a vector on the CPU. */
#include <stdint.h>

/* dimensions: ROWS, COLS, PER_ROW. tensors: row_start, columns, values and x as stored, y as
 * doubles. */
void csr_product_reference(const int64_t *dimensions, void *const *tensors) {
    const int32_t *row_start = tensors[0];
    const int32_t *columns = tensors[1];
    const float *values = tensors[2];
    const float *x = tensors[3];
    double *y = tensors[4];

    for (int64_t row = 0; row < dimensions[0]; ++row) {
        y[row] = 0;
        for (int32_t i = row_start[row]; i < row_start[row + 1]; ++i)
            y[row] += (double)values[i] * x[columns[i]];
    }
}
