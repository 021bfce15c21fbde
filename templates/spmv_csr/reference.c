/* A sparse matrix times a vector in double precision on the CPU, and the sums of the absolute
 * terms. */
#include <math.h>
#include <stdint.h>

/* dimensions: ROWS, COLS, NONZEROS. tensors: row_start, columns, values and x as stored, y as
 * doubles, then its magnitude. */
void spmv_csr_reference(const int64_t *dimensions, void *const *tensors) {
    const int32_t *row_start = tensors[0], *columns = tensors[1];
    const float *values = tensors[2], *x = tensors[3];
    double *y = tensors[4], *y_magnitude = tensors[5];

    for (int64_t row = 0; row < dimensions[0]; ++row) {
        y[row] = y_magnitude[row] = 0;
        for (int32_t i = row_start[row]; i < row_start[row + 1]; ++i) {
            double term = (double)values[i] * x[columns[i]];

            y[row] += term;
            y_magnitude[row] += fabs(term);
        }
    }
}
