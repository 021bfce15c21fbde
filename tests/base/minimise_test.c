#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/minimise.h"

#include <math.h>

enum { COUNT = 6 };

/* Rosenbrock's function, whose only minimum in these bounds is 0 at (1, 1, ...). */
static double valley(const double *x, double *gradient, void *context) {
    double value = 0;
    ++*(int *)context;
    for (int i = 0; i < COUNT; i++)
        gradient[i] = 0;
    for (int i = 0; i + 1 < COUNT; i++) {
        double bend = x[i + 1] - x[i] * x[i], rest = 1 - x[i];
        value += 100 * bend * bend + rest * rest;
        gradient[i] += -400 * x[i] * bend - 2 * rest;
        gradient[i + 1] += 200 * bend;
    }
    return value;
}

static void finds_the_floor_of_a_valley(void **state) {
    (void)state;
    double x[COUNT] = {0}, lower[COUNT], upper[COUNT];
    int calls = 0;
    for (int i = 0; i < COUNT; i++) {
        lower[i] = -2;
        upper[i] = 2;
    }
    assert_true(minimise(COUNT, x, lower, upper, 200, valley, &calls) < 0.01);
    for (int i = 0; i < COUNT; i++)
        assert_float_equal(x[i], 1, 0.2);
    assert_true(calls < 400);
}

static void stays_in_the_box(void **state) {
    (void)state;
    double x[COUNT] = {0}, lower[COUNT], upper[COUNT], gradient[COUNT];
    int calls = 0;
    for (int i = 0; i < COUNT; i++) {
        lower[i] = -2;
        upper[i] = i == 2 ? 0.5 : 2;
    }
    double least = minimise(COUNT, x, lower, upper, 200, valley, &calls);
    assert_float_equal(x[2], 0.5, 0);
    assert_float_equal(least, valley(x, gradient, &calls), 1e-12);
    for (int i = 0; i < COUNT; i++)
        assert_true(x[i] >= lower[i] && x[i] <= upper[i]);
    assert_true(gradient[2] < 0); /* the bound stops the descent */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_floor_of_a_valley),
        cmocka_unit_test(stays_in_the_box),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
