/*
 * cholesky: symmetric positive definite matrices of a few hundred rows, factored row by row, so
 * that a matrix that grows by a row costs a row. Row i of a matrix begins at i * stride; only the
 * lower triangle is read or written. Sums are taken in a fixed order: the same numbers in give the
 * same numbers out on every machine that rounds as IEEE 754 says, so that a search goes on as it
 * was on another one. LAPACK promises neither that nor a row at a time.
 *
 *     double *factor = ...the lower triangle of A...;
 *     for (int i = 0; i < n; i++)
 *         if (cholesky_row(factor, stride, i) < 0) ...not positive definite...
 *     cholesky_forward(factor, stride, n, b);          // b becomes L^-1 b
 *     cholesky_backward(factor, stride, n, b);         // and now A^-1 of what it was
 */
#ifndef EVOTILE_BASE_CHOLESKY_H
#define EVOTILE_BASE_CHOLESKY_H

/* The sum of the products of two vectors. */
double cholesky_dot(const double *a, const double *b, int count);

/* Turns row i of A (its first i + 1 numbers) into row i of L, where A = L L'; the rows above are
   those of L already. -1 if A is not positive definite; the row is then spoilt. */
int cholesky_row(double *factor, int stride, int i);

/* Solve L x = b and L' x = b, in place. */
void cholesky_forward(const double *factor, int stride, int count, double *b);
void cholesky_backward(const double *factor, int stride, int count, double *b);

/* The lower triangle of A^-1 = (L L')^-1. `work` is another matrix of that size. */
void cholesky_inverse(const double *factor, int stride, int count, double *inverse, double *work);

#endif
