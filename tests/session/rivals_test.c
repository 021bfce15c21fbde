/* rivals: which of several solutions gets the next trial. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/random.h"
#include "session/rivals.h"

enum { RIVALS = 3 };

static void nothing_known_promises_most(void **state) {
    (void)state;
    struct recent_scores recent = {0};
    assert_true(isinf(recent_scores_gain(&recent, 10)));
    recent_scores_add(&recent, 12);
    assert_true(isinf(recent_scores_gain(&recent, 0)));
    assert_true(recent_scores_gain(&recent, 10) >= 0);
}

static void what_always_fails_promises_nothing(void **state) {
    (void)state;
    struct recent_scores recent = {0};
    for (int i = 0; i < 40; i++)
        recent_scores_add(&recent, 0);
    assert_true(recent_scores_gain(&recent, 10) == 0);
}

/* Against numerical integration of max(0, log best - x) under the normal distribution. */
static void the_gain_is_the_expected_improvement(void **state) {
    (void)state;
    struct recent_scores recent = {0};
    const double best = 10;
    for (int i = 0; i < RECENT_SCORES; i++)
        recent_scores_add(&recent, i % 4 == 0 ? 0 : best * exp(i % 2 == 0 ? 0.3 : 0.1));
    int scored = 0;
    double sum = 0, squares = 0, expected = 0;
    for (int i = 0; i < RECENT_SCORES; i++)
        if (recent.scores_us[i] > 0) {
            const double x = log(recent.scores_us[i] / best);
            sum += x;
            squares += x * x;
            scored++;
        }
    const double mean = sum / scored, deviation = sqrt(squares / scored - mean * mean);
    for (double x = -3; x < 0; x += 1e-4) {
        const double z = (x - mean) / deviation;
        expected += -x * exp(-z * z / 2) / sqrt(2 * acos(-1)) / deviation * 1e-4;
    }
    expected *= scored / (double)RECENT_SCORES;
    assert_true(fabs(recent_scores_gain(&recent, best) - expected) < 1e-3 * expected);
}

static void only_the_latest_count(void **state) {
    (void)state;
    struct recent_scores recent = {0}, fresh = {0};
    for (int i = 0; i < 100; i++)
        recent_scores_add(&recent, 5);
    for (int i = 0; i < RECENT_SCORES; i++) {
        recent_scores_add(&recent, 20 + i);
        recent_scores_add(&fresh, 20 + i);
    }
    assert_true(fabs(recent_scores_gain(&recent, 10) - recent_scores_gain(&fresh, 10)) < 1e-12);
}

/* Every rival is tried, the best gets most, and none is given up while it is open. */
static void the_promising_rival_gets_most(void **state) {
    (void)state;
    static const double means[RIVALS] = {30, 12, 14};
    struct recent_scores recent[RIVALS] = {0};
    struct rival rivals[RIVALS];
    struct random random;
    random_seed(&random, 7, 0);
    double best = 0;
    for (int i = 0; i < RIVALS; i++)
        rivals[i] = (struct rival){.open = true, .recent = &recent[i]};
    for (int trial = 0; trial < 400; trial++) {
        const int i = rivals_choose(rivals, RIVALS, best);
        assert_in_range(i, 0, RIVALS - 1);
        const double score = means[i] * (0.9 + 0.2 * random_uniform(&random));
        rivals[i].trials++;
        recent_scores_add(&recent[i], score);
        best = best == 0 || score < best ? score : best;
        for (int k = 0; k < RIVALS; k++)
            assert_true(rivals[k].trials >= (trial + 1) / RIVAL_SHARE - 1);
    }
    assert_true(rivals[1].trials > 300);
    assert_in_range(rivals[0].trials, RIVAL_FIRST_TRIALS, 30);
}

static void a_closed_rival_gets_none(void **state) {
    (void)state;
    struct recent_scores recent = {0};
    const struct rival rivals[] = {{false, 0, &recent}, {true, 50, &recent}, {false, 3, &recent}};
    assert_int_equal(rivals_choose(rivals, 3, 10), 1);
    assert_int_equal(rivals_choose(rivals, 1, 10), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_known_promises_most),
        cmocka_unit_test(what_always_fails_promises_nothing),
        cmocka_unit_test(the_gain_is_the_expected_improvement),
        cmocka_unit_test(only_the_latest_count),
        cmocka_unit_test(the_promising_rival_gets_most),
        cmocka_unit_test(a_closed_rival_gets_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
