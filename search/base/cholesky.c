#include "base/cholesky.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* Four partial sums, so that an addition does not wait for the previous one. */
double cholesky_dot(const double *a, const double *b, int count) {
    double sums[4] = {0};
    int i = 0;
    for (; i + 4 <= count; i += 4)
        for (int lane = 0; lane < 4; lane++)
            sums[lane] += a[i + lane] * b[i + lane];
    for (; i < count; i++)
        sums[0] += a[i] * b[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

int cholesky_row(double *factor, int stride, int i) {
    double *row = factor + (size_t)i * (size_t)stride;
    for (int j = 0; j < i; j++) {
        const double *above = factor + (size_t)j * (size_t)stride;
        row[j] = (row[j] - cholesky_dot(row, above, j)) / above[j];
    }
    double square = row[i] - cholesky_dot(row, row, i);
    if (!(square > 0))
        return -1;
    row[i] = sqrt(square);
    return 0;
}

void cholesky_forward(const double *factor, int stride, int count, double *b) {
    for (int i = 0; i < count; i++) {
        const double *row = factor + (size_t)i * (size_t)stride;
        b[i] = (b[i] - cholesky_dot(row, b, i)) / row[i];
    }
}

void cholesky_backward(const double *factor, int stride, int count, double *b) {
    for (int i = count - 1; i >= 0; i--) {
        const double *row = factor + (size_t)i * (size_t)stride;
        b[i] /= row[i];
        for (int j = 0; j < i; j++)
            b[j] -= row[j] * b[i];
    }
}

void cholesky_inverse(const double *factor, int stride, int count, double *inverse, double *work) {
    for (int i = 0; i < count; i++) { /* work = L^-1 */
        const double *row = factor + (size_t)i * (size_t)stride;
        double *to = work + (size_t)i * (size_t)stride;
        memset(to, 0, (size_t)(i + 1) * sizeof *to);
        for (int k = 0; k < i; k++) {
            const double *from = work + (size_t)k * (size_t)stride;
            for (int j = 0; j <= k; j++)
                to[j] -= row[k] * from[j];
        }
        for (int j = 0; j < i; j++)
            to[j] /= row[i];
        to[i] = 1 / row[i];
    }
    for (int i = 0; i < count; i++)
        memset(inverse + (size_t)i * (size_t)stride, 0, (size_t)(i + 1) * sizeof *inverse);
    for (int k = 0; k < count; k++) { /* (L^-1)' L^-1 */
        const double *row = work + (size_t)k * (size_t)stride;
        for (int i = 0; i <= k; i++) {
            double *to = inverse + (size_t)i * (size_t)stride;
            for (int j = 0; j <= i; j++)
                to[j] += row[i] * row[j];
        }
    }
}
