/* Scores by another quantity than latency. */
#include "outcome/minimised.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

static void names_are_read_back(void **state) {
    (void)state;
    enum minimised read;
    for (int i = 0; i < MINIMISED_COUNT; i++) {
        assert_true(minimised_parse(minimised_name((enum minimised)i), &read));
        assert_int_equal(read, i);
    }
    assert_false(minimised_parse("power", &read));
    assert_string_equal(minimised_unit(MINIMISED_LATENCY), "us");
    assert_string_equal(minimised_unit(MINIMISED_PARETO), "mJ us");
}

static void scores_are_geometric_means(void **state) {
    (void)state;
    struct case_outcome cases[2] = {
        {.warm = {.p50_us = 100, .p10_us = 99, .p90_us = 101, .sample_count = 50},
         .energy = {.mj = 30, .error = 0.03}},
        {.warm = {.p50_us = 400, .p10_us = 396, .p90_us = 404, .sample_count = 50},
         .energy = {.mj = 120, .error = 0.04}}};
    struct outcome outcome = {.case_count = 2, .cases = cases};
    assert_true(fabs(minimised_score(&outcome, MINIMISED_LATENCY) - 200) < 1e-9);
    assert_true(fabs(minimised_score(&outcome, MINIMISED_ENERGY) - 60) < 1e-9);
    assert_true(fabs(minimised_score(&outcome, MINIMISED_ENERGY_DELAY) - 12000) < 1e-6);
    assert_true(fabs(minimised_score(&outcome, MINIMISED_PARETO) - 12000) < 1e-6);
    double latency_error = minimised_score_error(&outcome, MINIMISED_LATENCY);
    assert_true(latency_error > 0 && latency_error < 0.01);
    /* Another placement differs more than the samples of one; a prediction not at all. */
    const double repeat_error = minimised_repeat_error(&outcome, MINIMISED_LATENCY);
    assert_true(repeat_error > hypot(latency_error, 0.003) && repeat_error < latency_error + 0.02);
    outcome.predicted = true;
    assert_true(minimised_repeat_error(&outcome, MINIMISED_LATENCY) == 0);
    outcome.predicted = false;
    assert_true(fabs(minimised_score_error(&outcome, MINIMISED_ENERGY) - 0.025) < 1e-12);
    assert_true(fabs(minimised_score_error(&outcome, MINIMISED_ENERGY_DELAY) -
                     hypot(0.025, latency_error)) < 1e-12);
    cases[0].tflops = cases[1].tflops = 4; /* of 0.4 and 1.6 Gop */
    cases[0].gb_per_s = 50, cases[1].gb_per_s = 200;
    assert_true(fabs(minimised_score(&outcome, MINIMISED_OPERATIONS) - 250) < 1e-9);
    assert_true(fabs(minimised_rate(&outcome, MINIMISED_OPERATIONS) - 4e6) < 1e-3);
    assert_true(fabs(minimised_score(&outcome, MINIMISED_BYTES) - 1e4) < 1e-6);
    assert_true(fabs(minimised_case_work(MINIMISED_OPERATIONS, &cases[1]) - 1.6e9) < 1);
    assert_true(fabs(minimised_case_work(MINIMISED_BYTES, &cases[1]) - 8e7) < 1);
    assert_true(minimised_score_error(&outcome, MINIMISED_BYTES) == latency_error);
    cases[1].energy.mj = 0;
    assert_true(isnan(minimised_score(&outcome, MINIMISED_ENERGY)));
    assert_true(isnan(minimised_score(&outcome, MINIMISED_PARETO)));
    assert_true(fabs(minimised_score(&outcome, MINIMISED_LATENCY) - 200) < 1e-9);
    cases[1].warm.p50_us = 0;
    assert_true(isnan(minimised_score(&outcome, MINIMISED_LATENCY)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_read_back),
        cmocka_unit_test(scores_are_geometric_means),
    };
    return cmocka_run_group_tests_name("minimised", tests, NULL, NULL);
}
