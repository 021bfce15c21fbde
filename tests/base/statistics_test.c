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

/* Expected values are from numpy.percentile. */
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

/* Of values over many orders of magnitude: whole weights are copies, a common factor has no effect,
   equal weights are none, and the mean follows the heaviest value. */
static void weights_are_copies(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 5, 1);
    for (int round = 0; round < 200; round++) {
        double values[8], weights[8], scaled[8], equal[8], copies[8 * 9];
        const int count = 1 + (int)random_below(&random, 8);
        const double factor = exp(20 * random_uniform(&random) - 10);
        int copied = 0;
        for (int i = 0; i < count; i++) {
            values[i] = exp(40 * random_uniform(&random) - 20);
            weights[i] = 1 + (double)random_below(&random, 9);
            scaled[i] = factor * weights[i];
            equal[i] = factor;
            for (int k = 0; k < weights[i]; k++)
                copies[copied++] = values[i];
        }
        const double mean = statistics_weighted_geometric_mean(values, weights, count);
        const double plain = statistics_geometric_mean(values, count);
        assert_true(fabs(mean / statistics_geometric_mean(copies, copied) - 1) < 1e-12);
        assert_true(fabs(mean / statistics_weighted_geometric_mean(values, scaled, count) - 1) <
                    1e-12);
        assert_true(fabs(plain / statistics_weighted_geometric_mean(values, equal, count) - 1) <
                    1e-12);
        /* Without weights to the last bit, so that old scores stay what they were. */
        for (int i = 0; i < count; i++)
            equal[i] = 1;
        assert_true(plain == statistics_weighted_geometric_mean(values, equal, count));
        assert_true(plain == statistics_weighted_geometric_mean(values, NULL, count));
    }
    NEAR(statistics_weighted_geometric_mean((double[]){2, 16}, (double[]){2, 1}, 2), 4);
}

/* ---- the bootstrap ---- */

static double normal(struct random *random) {
    double sum = 0;
    for (int i = 0; i < 12; i++)
        sum += random_uniform(random);
    return sum - 6;
}

/* Returns how often in 1000 the interval of `count` normal values contains their true mean. */
static int coverage(int count, double confidence) {
    struct random random;
    int held = 0;
    random_seed(&random, 11, (uint64_t)count);
    for (int i = 0; i < 1000; i++) {
        double values[40];
        double low;
        double high;
        for (int k = 0; k < count; k++)
            values[k] = 3 + 0.5 * normal(&random);
        statistics_bootstrap_mean(values, count, confidence, 1000, &random, &low, &high);
        assert_true(low <= high);
        held += low <= 3 && 3 <= high;
    }
    return held;
}

static void the_interval_holds_the_mean(void **state) {
    (void)state;
    assert_in_range(coverage(40, 0.99), 975, 1000);
    assert_in_range(coverage(10, 0.99), 955, 1000);
    assert_in_range(coverage(40, 0.90), 870, 930);
}

static void the_interval_is_a_function_of_its_generator(void **state) {
    (void)state;
    const double values[] = {1, 2, 4, 8};
    double low[2], high[2];
    for (int i = 0; i < 2; i++) {
        struct random random;
        random_seed(&random, 5, 1);
        statistics_bootstrap_mean(values, 4, 0.99, 500, &random, &low[i], &high[i]);
    }
    assert_true(low[0] == low[1] && high[0] == high[1]);
    assert_true(low[0] < 3.75 && high[0] > 3.75);
}

/* Two values: their resampled means spread too little, by a factor of the square root of 2. */
static void few_values_give_a_wider_interval(void **state) {
    (void)state;
    struct random random;
    double low, high;
    const double values[] = {0, 2};
    random_seed(&random, 5, 1);
    statistics_bootstrap_mean(values, 2, 0.99, 1000, &random, &low, &high);
    assert_true(fabs(low - (1 - sqrt(2))) < 1e-12 && fabs(high - (1 + sqrt(2))) < 1e-12);
}

static void equal_values_leave_no_doubt(void **state) {
    (void)state;
    struct random random;
    double low, high;
    const double values[] = {0.25, 0.25, 0.25};
    random_seed(&random, 5, 1);
    statistics_bootstrap_mean(values, 3, 0.99, 100, &random, &low, &high);
    assert_true(low == 0.25 && high == 0.25);
    statistics_bootstrap_mean(values, 1, 0.99, 100, &random, &low, &high);
    assert_true(low == 0.25 && high == 0.25);
}

static void orders_are_compared(void **state) {
    (void)state;
    const double rising[] = {1, 2, 3, 4, 5}, curved[] = {-9, 0, 1, 100, 1e9};
    const double falling[] = {5, 4, 3, 2, 1}, flat[] = {7, 7, 7, 7, 7};
    /* Computed by hand: ranks 0 1.5 1.5 3 4 and 1 0 2 4 3. */
    const double ties[] = {1, 2, 2, 3, 4}, mixed[] = {20, 10, 30, 50, 40};
    assert_true(fabs(statistics_rank_correlation(rising, curved, 5) - 1) < 1e-12);
    assert_true(fabs(statistics_rank_correlation(curved, falling, 5) + 1) < 1e-12);
    assert_true(statistics_rank_correlation(rising, flat, 5) == 0);
    assert_true(fabs(statistics_rank_correlation(ties, mixed, 5) - 7 / sqrt(9.5 * 10)) < 1e-12);
}

static void students_quantiles_are_those_of_tables(void **state) {
    (void)state;
    static const struct {
        int freedom;
        double quantile;
    } rows[] = {{4, 4.604}, {5, 4.032}, {10, 3.169}, {30, 2.750}, {100000, 2.576}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_true(fabs(statistics_student_99(rows[i].freedom) / rows[i].quantile - 1) < 0.02);
    assert_true(isinf(statistics_student_99(3)) && isinf(statistics_student_99(-7)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(students_quantiles_are_those_of_tables),
        cmocka_unit_test(orders_are_compared),
        cmocka_unit_test(median_is_the_middle),
        cmocka_unit_test(percentile_interpolates),
        cmocka_unit_test(samples_are_left_alone),
        cmocka_unit_test(geometric_mean_multiplies),
        cmocka_unit_test(weights_are_copies),
        cmocka_unit_test(the_interval_holds_the_mean),
        cmocka_unit_test(the_interval_is_a_function_of_its_generator),
        cmocka_unit_test(few_values_give_a_wider_interval),
        cmocka_unit_test(equal_values_leave_no_doubt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
