#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/random.h"
#include "base/statistics.h"
#include "outcome/filled.h"

#include <math.h>
#include <string.h>

static void verdict_names_round_trip(void **state) {
    (void)state;
    for (int verdict = 0; verdict < VERDICT_COUNT; verdict++) {
        assert_non_null(verdict_name(verdict));
        assert_int_equal(verdict_parse(verdict_name(verdict)), verdict);
    }
    assert_int_equal(verdict_parse("fine"), -1);
    assert_int_equal(verdict_parse(""), -1);
}

/* A verdict that says nothing of what ran does not count as a run, and only one counts as the end.
 */
static void verdicts_say_how_far(void **state) {
    (void)state;
    static const char *const words[] = {
        [REACHED_NOTHING] = "invalid filtered compile_failed over_limit lost",
        [REACHED_COMPILER] = "launch_failed unverified timeout crashed",
        [REACHED_RUN] = "wrong racy wrote_outside changed_input impossible too_slow",
        [REACHED_END] = "ok"};
    int named = 0;
    for (int reach = 0; reach <= REACHED_END; reach++) {
        char text[128];
        snprintf(text, sizeof text, "%s", words[reach]);
        for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " "), named++)
            assert_int_equal(verdict_reach((enum verdict)verdict_parse(word)), reach);
    }
    assert_int_equal(named, VERDICT_COUNT);
}

static void cases_are_replaced_and_moved(void **state) {
    (void)state;
    struct outcome from = {.score_us = 3}, to;
    outcome_set_cases(&from, 2);
    latency_reserve(&from.cases[1].warm, 3)[2] = 7.5;
    from.cases[1].warm.sample_count = 3;
    latency_reserve(&from.cases[1].warm, 50)[49] = 1;
    assert_true(from.cases[1].warm.samples_us[2] == 7.5); /* they moved along */
    from.cases[1].ctas = 9;
    outcome_move(&to, &from);
    assert_int_equal(from.case_count, 0);
    assert_null(from.cases);
    assert_true(from.score_us == 0);
    assert_int_equal(to.cases[1].ctas, 9);
    assert_true(to.cases[1].warm.samples_us[2] == 7.5);
    outcome_set_cases(&to, CASES_MAX);
    assert_int_equal(to.case_count, CASES_MAX);
    assert_int_equal(to.cases[1].ctas, 0);
    assert_int_equal(to.cases[1].warm.sample_count, 0);
    outcome_set_cases(&to, 0);
    assert_null(to.cases);
    outcome_release(&to);
    outcome_release(&to);
    assert_true(to.score_us == 0);
}

static void conditions_are_printed(void **state) {
    (void)state;
    char text[CONDITIONS_TEXT_SIZE];
    struct conditions conditions = {0};
    assert_string_equal(conditions_print(&conditions, text), "");
    conditions.sm_mhz_low = conditions.sm_mhz_high = 1980;
    assert_string_equal(conditions_print(&conditions, text), "1980 MHz");
    conditions.sm_mhz_low = 1560;
    conditions.power_w = 698.4;
    conditions.slowdowns = 0x4 | 0x1;
    assert_string_equal(conditions_print(&conditions, text),
                        "1560 to 1980 MHz, up to 698 W, at the power limit");
    conditions.sm_mhz = 1620;
    assert_string_equal(conditions_print(&conditions, text),
                        "1620 MHz (1560 to 1980), up to 698 W, at the power limit");
}

static void energy_is_a_mean_over_cases(void **state) {
    (void)state;
    char text[ENERGY_TEXT_SIZE];
    struct case_outcome cases[2] = {{.energy = {30, 0.03, 512.4, 98.2}},
                                    {.energy = {120, 0.04, 600, 98.2}}};
    struct outcome outcome = {.case_count = 2, .cases = cases};
    assert_true(fabs(outcome_energy_mj(&outcome) - 60) < 1e-9);
    assert_true(fabs(outcome_energy_error(&outcome) - 0.025) < 1e-12);
    assert_string_equal(energy_print(&cases[0].energy, text),
                        "30 mJ a call (+- 3.0 %), 512 W of which 98 W idle");
    cases[1].energy = (struct energy){.mj = NAN};
    assert_true(isnan(outcome_energy_mj(&outcome)));
    assert_string_equal(energy_print(&cases[1].energy, text), "");
    cases[1].energy = (struct energy){0};
    assert_true(isnan(outcome_energy_mj(&outcome)));
    outcome.case_count = 0;
    assert_true(isnan(outcome_energy_mj(&outcome)));
}

/* A case of weight 2 counts as two cases, in means and in their errors. */
static void means_are_by_weights(void **state) {
    (void)state;
    struct case_outcome cases[3] = {
        {.energy = {30, 0.03, 0, 0}, .warm.p50_us = 2},
        {.energy = {120, 0.04, 0, 0}, .warm.p50_us = 16},
    };
    struct outcome outcome = {.case_count = 2, .cases = cases};
    const double plain_us = outcome_latency_us(&outcome);
    outcome_set_weights(&outcome, (double[]){2, 1});
    assert_true(fabs(outcome_latency_us(&outcome) - 4) < 1e-12);
    assert_true(fabs(outcome_energy_mj(&outcome) - cbrt(30.0 * 30 * 120)) < 1e-9);
    assert_true(fabs(outcome_energy_error(&outcome) - hypot(2 * 0.03, 0.04) / 3) < 1e-12);
    assert_true(fabs(outcome_mean(&outcome, (double[]){1, 8}) - 2) < 1e-12);
    assert_true(isnan(outcome_mean(&outcome, (double[]){1, 0})));
    assert_true(isnan(outcome_mean(&outcome, (double[]){INFINITY, 1})));
    outcome_set_weights(&outcome, NULL);
    assert_true(outcome_latency_us(&outcome) == plain_us);
    outcome.case_count = 0;
    assert_true(isnan(outcome_mean(&outcome, NULL)));
}

static void the_largest_spread_over_placements_counts(void **state) {
    (void)state;
    struct case_outcome cases[3] = {{.placements = {5, 10, 10.5}}, {.placements = {0}}};
    struct outcome outcome = {.case_count = 3, .cases = cases};
    cases[2].placements = (struct placements){5, 40, 44};
    assert_true(fabs(outcome_placement_spread(&outcome) - 0.1) < 1e-12);
    outcome.case_count = 2;
    assert_true(fabs(outcome_placement_spread(&outcome) - 0.05) < 1e-12);
    cases[0].placements.count = 1;
    assert_true(isnan(outcome_placement_spread(&outcome)));
}

/* A member without a row, or a row that is lost, changes the number of bytes that no row covers.
   The rest: of an outcome the verdict, the pointer to the cases and padding; of a case the samples'
   numbers and pointers, the weight, which is of the run, and padding. */
static void tables_list_every_field(void **state) {
    enum { OUTCOME_PADDING = 17, CASE_PADDING = 16 };
    (void)state;
    assert_int_equal(uncovered_bytes(outcome_fields, sizeof(struct outcome)),
                     sizeof(enum verdict) + sizeof(struct case_outcome *) + OUTCOME_PADDING);
    assert_int_equal(uncovered_bytes(case_fields, sizeof(struct case_outcome)),
                     2 * (sizeof(int) + sizeof(double *)) + sizeof(double) + CASE_PADDING);
    assert_true(sizeof(struct outcome) < 2048);
}

/* No two rows share a member, and each field that is filled is compared. */
static void fields_are_distinct(void **state) {
    (void)state;
    struct outcome a = {0}, b = {0};
    fill_outcome(&a, 1, 0);
    fill_outcome(&b, 1, 0);
    assert_true(outcomes_equal(&a, &b));
    for (const struct field *field = outcome_fields; field->name != NULL; field++)
        for (const struct field *other = outcome_fields; other < field; other++)
            assert_true(other->offset + other->size <= field->offset ||
                        field->offset + field->size <= other->offset);
    for (const struct field *field = case_fields; field->name != NULL; field++)
        for (const struct field *other = case_fields; other < field; other++)
            assert_true(other->offset + other->size <= field->offset ||
                        field->offset + field->size <= other->offset);
    outcome_release(&a);
    outcome_release(&b);
}

/* Fills a case with log-normal samples. */
static void time_case(struct latency *latency, int count, double deviation, struct random *random) {
    latency->sample_count = 0;
    latency_reserve(latency, count);
    latency->sample_count = count;
    for (int i = 0; i < count; i++) {
        double radius = sqrt(-2 * log(1 - random_uniform(random)));
        latency->samples_us[i] =
            exp(deviation * radius * cos(6.283185307179586 * random_uniform(random)));
    }
    latency->p10_us = statistics_percentile(latency->samples_us, count, 10);
    latency->p50_us = statistics_percentile(latency->samples_us, count, 50);
    latency->p90_us = statistics_percentile(latency->samples_us, count, 90);
}

/* Over many trials the estimate matches the scores' deviation from 1, the true median; with very
   few samples it is larger. */
static void score_error_matches_deviation(void **state) {
    (void)state;
    enum { ROUNDS = 2000 };
    static const int sample_counts[] = {3, 5, 16, 50, 200}, case_counts[] = {1, 4};
    struct outcome outcome = {0};
    struct random random;
    random_seed(&random, 58, 0);
    for (int k = 0; k < 2; k++) {
        double before = INFINITY;
        for (int n = 0; n < 5; n++) {
            double actual = 0, estimated = 0;
            outcome_set_cases(&outcome, case_counts[k]);
            for (int round = 0; round < ROUNDS; round++) {
                double sum = 0;
                for (int c = 0; c < case_counts[k]; c++) {
                    time_case(&outcome.cases[c].warm, sample_counts[n], 0.05, &random);
                    sum += log(outcome.cases[c].warm.p50_us);
                }
                actual += pow(sum / case_counts[k], 2);
                estimated += pow(outcome_score_error(&outcome), 2);
            }
            assert_true(estimated > 0.9 * actual &&
                        estimated < (sample_counts[n] < 16 ? 2 : 1.3) * actual);
            assert_true(estimated < before);
            before = estimated;
        }
    }
    outcome_release(&outcome);
}

static void unsampled_scores_have_no_error(void **state) {
    (void)state;
    struct outcome outcome = {0};
    struct random random;
    random_seed(&random, 59, 0);
    assert_true(outcome_score_error(&outcome) == 0);
    outcome_set_cases(&outcome, 1);
    assert_true(outcome_score_error(&outcome) == 0);
    time_case(&outcome.cases[0].warm, 1, 0.05, &random);
    assert_true(outcome_score_error(&outcome) == 0);
    time_case(&outcome.cases[0].warm, 9, 0.05, &random);
    double error = outcome_score_error(&outcome);
    assert_true(error > 0);
    outcome.predicted = true;
    assert_true(outcome_score_error(&outcome) == 0);
    outcome.predicted = false;
    outcome.duel = (struct duel_outcome){DUEL_WON, 20, 0.9, 0.88, 0.92};
    assert_true(outcome_score_error(&outcome) == error);
    outcome.duel = (struct duel_outcome){DUEL_UNDECIDED, 20, 1, exp(-0.025758), exp(0.025758)};
    assert_float_equal(outcome_score_error(&outcome), 0.01, 1e-12);
    outcome.verdict = VERDICT_WRONG;
    assert_true(outcome_score_error(&outcome) == 0);
    outcome_release(&outcome);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(verdict_names_round_trip),
                                       cmocka_unit_test(verdicts_say_how_far),
                                       cmocka_unit_test(cases_are_replaced_and_moved),
                                       cmocka_unit_test(conditions_are_printed),
                                       cmocka_unit_test(energy_is_a_mean_over_cases),
                                       cmocka_unit_test(means_are_by_weights),
                                       cmocka_unit_test(the_largest_spread_over_placements_counts),
                                       cmocka_unit_test(tables_list_every_field),
                                       cmocka_unit_test(fields_are_distinct),
                                       cmocka_unit_test(score_error_matches_deviation),
                                       cmocka_unit_test(unsampled_scores_have_no_error)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
