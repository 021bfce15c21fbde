/* What timing a case may cost: for calls of microseconds the config's numbers, for long ones a
   share of a fixed time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/random.h"
#include "base/statistics.h"
#include "evaluate/timing_budget.h"

static const struct timing timing = {
    .launches = 20, .samples = 50, .race_samples = 5, .warmup_ms = 5, .placements = 5};

static void short_calls_have_the_numbers_of_the_config(void **state) {
    (void)state;
    for (double call_us = 1; call_us < LONG_CALL_US; call_us *= 1.3) {
        assert_int_equal(budget_launches(20, call_us), 20);
        struct timing_budget race = timing_budget(&timing, STAGE_RACE, call_us, true);
        assert_int_equal(race.samples, 5);
        assert_int_equal(race.cold_samples, 0);
        assert_true(race.warmup_us == 1000);
        struct timing_budget full = timing_budget(&timing, STAGE_FULL, call_us, true);
        assert_int_equal(full.samples, 50);
        assert_int_equal(full.cold_samples, 10);
        assert_true(full.warmup_us == 5000);
        assert_int_equal(timing_budget(&timing, STAGE_FINAL, call_us, true).cold_samples, 50);
    }
}

/* GPU time of a stage without its warm-up: samples, one replay more, and cold samples. */
static double cost_us(const struct timing_budget *budget, double call_us) {
    return (budget->samples + 1) * call_us * budget_launches(20, call_us) +
           budget->cold_samples * call_us;
}

static void long_calls_keep_within_the_budget(void **state) {
    (void)state;
    static const double most_us[STAGE_COUNT] = {2e4, 7e4, 2.5e5};
    for (double call_us = LONG_CALL_US; call_us < 1e5; call_us *= 1.1) {
        int launches = budget_launches(20, call_us);
        assert_true(launches == 1 || launches * call_us < 2 * 200);
        assert_true(launches * call_us >= 200);
        for (enum timing_stage stage = STAGE_RACE; stage < STAGE_COUNT; stage++) {
            struct timing_budget budget = timing_budget(&timing, stage, call_us, false);
            int least = stage == STAGE_RACE ? 1 : 5;
            assert_in_range(budget.samples, least, stage == STAGE_RACE ? 5 : 50);
            if (budget.samples > least)
                assert_true(cost_us(&budget, call_us) <= most_us[stage] + 12 * call_us * launches);
            assert_true(budget.warmup_us <= 5000);
            assert_true(stage == STAGE_RACE || budget.cold_samples >= 2);
        }
    }
}

static void steady_load_comes_before_all_but_a_race(void **state) {
    (void)state;
    for (enum timing_stage stage = STAGE_RACE; stage < STAGE_COUNT; stage++)
        assert_true(timing_budget(&timing, stage, 400, true).warmup_us ==
                    (stage == STAGE_RACE   ? 1000
                     : stage == STAGE_FULL ? BUDGET_SETTLED_AFTER_US
                                           : BUDGET_STEADY_AFTER_US));
}

/* How many of 50 samples that scatter by this much suffice; 0: they do not. */
static int sufficient_samples(enum timing_stage stage, double spread) {
    double samples_us[50];
    struct random random;
    random_seed(&random, 1, 1);
    for (int i = 0; i < 50; i++) {
        samples_us[i] = 400 * (1 + spread * (random_uniform(&random) - 0.5));
        if (budget_suffices(stage, samples_us, i + 1))
            return i + 1;
    }
    return 0;
}

static void scatter_decides_how_many_suffice(void **state) {
    (void)state;
    assert_int_equal(sufficient_samples(STAGE_FULL, 1e-4), 10);
    assert_int_equal(sufficient_samples(STAGE_FINAL, 1e-4), 10);
    assert_in_range(sufficient_samples(STAGE_FULL, 1e-2), 11, 49);
    assert_int_equal(sufficient_samples(STAGE_FINAL, 1e-2), 0);
    assert_int_equal(sufficient_samples(STAGE_FULL, 3e-2), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_calls_have_the_numbers_of_the_config),
        cmocka_unit_test(long_calls_keep_within_the_budget),
        cmocka_unit_test(steady_load_comes_before_all_but_a_race),
        cmocka_unit_test(scatter_decides_how_many_suffice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
