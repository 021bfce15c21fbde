#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/cholesky.h"
#include "base/random.h"

#include <math.h>
#include <string.h>

enum { SIZE = 23, STRIDE = 29 };

/* B B' + I for a random B is positive definite. */
static void random_matrix(struct random *random, double matrix[SIZE * STRIDE]) {
    double factors[SIZE][SIZE];
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++)
            factors[i][j] = random_uniform(random) - 0.5;
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++)
            matrix[i * STRIDE + j] = cholesky_dot(factors[i], factors[j], SIZE) + (i == j);
}

static void solves_and_inverts(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 51, 0);
    for (int round = 0; round < 20; round++) {
        double matrix[SIZE * STRIDE], factor[SIZE * STRIDE], inverse[SIZE * STRIDE];
        double work[SIZE * STRIDE], x[SIZE], b[SIZE];
        random_matrix(&random, matrix);
        memcpy(factor, matrix, sizeof factor);
        for (int i = 0; i < SIZE; i++)
            assert_int_equal(cholesky_row(factor, STRIDE, i), 0);
        for (int i = 0; i < SIZE; i++)
            x[i] = b[i] = random_uniform(&random);
        cholesky_forward(factor, STRIDE, SIZE, x);
        cholesky_backward(factor, STRIDE, SIZE, x);
        for (int i = 0; i < SIZE; i++)
            assert_float_equal(cholesky_dot(matrix + i * STRIDE, x, SIZE), b[i], 1e-9);
        cholesky_inverse(factor, STRIDE, SIZE, inverse, work);
        for (int i = 0; i < SIZE; i++)
            for (int j = 0; j < i; j++)
                inverse[j * STRIDE + i] = inverse[i * STRIDE + j];
        for (int i = 0; i < SIZE; i++)
            for (int j = 0; j < SIZE; j++)
                assert_float_equal(cholesky_dot(matrix + i * STRIDE, inverse + j * STRIDE, SIZE),
                                   i == j, 1e-9);
    }
}

static void what_is_not_positive_definite_is_refused(void **state) {
    (void)state;
    double matrix[] = {1, 0, 2, 1};
    assert_int_equal(cholesky_row(matrix, 2, 0), 0);
    assert_int_equal(cholesky_row(matrix, 2, 1), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solves_and_inverts),
        cmocka_unit_test(what_is_not_positive_definite_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
