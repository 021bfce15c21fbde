/*
 * cholesky: factors symmetric positive definite matrices of a few hundred rows, one row at a time,
 * so that appending a row to a matrix costs one row of work. Row i of a matrix starts at i *
 * stride; only the lower triangle is read or written. Sums are taken in a fixed order: the same
 * input gives the same output on every machine with IEEE 754 rounding, so a search can be resumed
 * on another machine. LAPACK guarantees neither that nor row-wise updates.
 *
 *     double *factor = lower_triangle_of_A;
 *     for (int i = 0; i < n; i++)
 *         if (cholesky_row(factor, stride, i) < 0)
 *             return -1;                               // not positive definite
 *     cholesky_forward(factor, stride, n, b);          // b becomes L^-1 b
 *     cholesky_backward(factor, stride, n, b);         // b becomes A^-1 b
 */
#ifndef EVOTILE_BASE_CHOLESKY_H
#define EVOTILE_BASE_CHOLESKY_H

/* The dot product of two vectors. */
double cholesky_dot(const double *a, const double *b, int count);

/* Turns row i of A (its first i + 1 numbers) into row i of L, where A = L L'; the rows above must
   already be rows of L. Returns -1 if A is not positive definite; the row is then overwritten. */
int cholesky_row(double *factor, int stride, int i);

/* Solve L x = b and L' x = b, in place. */
void cholesky_forward(const double *factor, int stride, int count, double *b);
void cholesky_backward(const double *factor, int stride, int count, double *b);

/* The lower triangle of A^-1 = (L L')^-1. `work` is another matrix of that size. */
void cholesky_inverse(const double *factor, int stride, int count, double *inverse, double *work);

#endif
