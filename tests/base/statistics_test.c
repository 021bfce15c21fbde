#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/statistics.h"

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-12)

static void median_is_the_middle(void **state) {
    (void)state;
    NEAR(statistics_median((double[]){5}, 1), 5);
    NEAR(statistics_median((double[]){9, 1, 4}, 3), 4);
    NEAR(statistics_median((double[]){9, 1, 4, 6}, 4), 5);
}

/* The values are numpy.percentile's. */
static void percentile_interpolates(void **state) {
    (void)state;
    const double samples[] = {15, 20, 35, 40, 50};
    NEAR(statistics_percentile(samples, 5, 0), 15);
    NEAR(statistics_percentile(samples, 5, 5), 16);
    NEAR(statistics_percentile(samples, 5, 40), 29);
    NEAR(statistics_percentile(samples, 5, 90), 46);
    NEAR(statistics_percentile(samples, 5, 100), 50);
    NEAR(statistics_percentile(samples, 1, 73), 15);
}

static void samples_are_left_alone(void **state) {
    (void)state;
    double samples[] = {3, 1, 2}, before[] = {3, 1, 2};
    NEAR(statistics_percentile(samples, 3, 10), 1.2);
    assert_memory_equal(samples, before, sizeof samples);
}

static void geometric_mean_multiplies(void **state) {
    (void)state;
    NEAR(statistics_geometric_mean((double[]){7}, 1), 7);
    NEAR(statistics_geometric_mean((double[]){2, 8}, 2), 4);
    NEAR(statistics_geometric_mean((double[]){1e-300, 1e300}, 2), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(median_is_the_middle),
        cmocka_unit_test(percentile_interpolates),
        cmocka_unit_test(samples_are_left_alone),
        cmocka_unit_test(geometric_mean_multiplies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
