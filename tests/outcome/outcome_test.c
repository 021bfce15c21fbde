#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/random.h"
#include "base/statistics.h"
#include "outcome/outcome.h"

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

static bool is_all(const void *bytes, size_t size, unsigned char value) {
    const unsigned char *at = bytes;
    while (size > 0 && at[size - 1] == value)
        size--;
    return size == 0;
}

/* The functions overwrite everything up to the last case, and nothing beyond it. */
static void only_used_cases_are_touched(void **state) {
    static struct outcome from, to;
    size_t head = offsetof(struct outcome, cases);
    (void)state;
    memset(&from, 0x55, sizeof from);
    outcome_clear(&from);
    assert_true(is_all(&from, head, 0));
    for (int count = 0; count <= CASES_MAX; count += 1 + count) {
        size_t used = head + (size_t)count * sizeof *from.cases, past = sizeof from - used;
        memset(&from, 0x55, sizeof from);
        outcome_set_cases(&from, count);
        assert_int_equal(from.case_count, count);
        assert_true(is_all(from.cases, used - head, 0));
        assert_true(is_all((const char *)&from + used, past, 0x55));
        memset(from.cases, 0x33, used - head);
        memset(&to, 0xaa, sizeof to);
        outcome_copy(&to, &from);
        assert_memory_equal(&to, &from, used);
        assert_true(is_all((const char *)&to + used, past, 0xaa));
    }
}

/* Fills a case with log-normal samples. */
static void time_case(struct latency *latency, int count, double deviation, struct random *random) {
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
    static struct outcome outcome;
    struct random random;
    random_seed(&random, 58, 0);
    for (int k = 0; k < 2; k++) {
        double before = INFINITY;
        for (int n = 0; n < 5; n++) {
            double actual = 0, estimated = 0;
            outcome_clear(&outcome);
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
}

static void unsampled_scores_have_no_error(void **state) {
    (void)state;
    static struct outcome outcome;
    struct random random;
    random_seed(&random, 59, 0);
    outcome_clear(&outcome);
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
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(verdict_names_round_trip),
                                       cmocka_unit_test(only_used_cases_are_touched),
                                       cmocka_unit_test(score_error_matches_deviation),
                                       cmocka_unit_test(unsampled_scores_have_no_error)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
