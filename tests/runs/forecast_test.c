/* What a search will take, from earlier runs and from its own champions. */
#include "run/forecast.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store/example.h"

/* A run of `trials` trials of one goal in `seconds`, with champions at these trials. */
static void make_run(const char *folder, const char *name, const char *template_name, int trials,
                     const char *seconds, const int64_t champions[3], const double scores_us[3]) {
    struct error error = {0};
    char run_dir[PATH_SIZE];
    const struct store_meta meta[] = {{"template", template_name}, {"device_name", "NVIDIA X"}};
    static const char *const goals[] = {"S=64"};
    struct outcome outcome = {.verdict = VERDICT_OK, .score_us = 1};
    assert_int_equal(path_join(run_dir, folder, name, &error), 0);
    struct store *store =
        store_create(run_dir, &(struct store_description){meta, 2, goals, 1}, &error);
    assert_non_null(store);
    assert_int_equal(store_begin(store, &error), 0);
    for (int64_t i = 0; i < trials; i++) {
        const struct store_ask ask = {.number = i,
                                      .genome = "A=1",
                                      .parent_a = STORE_NO_TRIAL,
                                      .parent_b = STORE_NO_TRIAL,
                                      .operator_name = "free"};
        assert_true(store_ask(store, &ask, &error) > 0);
        assert_true(store_tell(store, i, &outcome, NULL, NULL, &error) > 0);
        for (int c = 0; c < 3; c++)
            if (champions[c] == i)
                assert_int_equal(store_record_champion(store, 0, i,
                                                       c > 0 ? champions[c - 1] : STORE_NO_TRIAL,
                                                       scores_us[c], &error),
                                 0);
    }
    assert_int_equal(store_checkpoint(store, (struct hash){0}, seconds, &error), 0);
    assert_int_equal(store_commit(store, &error), 0);
    store_close(store);
}

static void earlier_runs_tell(void **state) {
    static const int64_t champions[] = {0, 29, 55};
    static const double scores_us[] = {9, 5.1, 5}; /* within 3 % from trial 29 on: the 30th */
    struct error error = {0};
    struct forecast forecast;
    char text[FORECAST_SIZE];
    const char *folder = *state;
    make_run(folder, "a", "t", 60, "30", champions, scores_us);
    make_run(folder, "b", "t", 100, "10", champions, scores_us);
    make_run(folder, "other", "u", 60, "1", champions, scores_us);
    make_run(folder, "short", "t", 49, "1", champions, scores_us);
    make_run(folder, "self", "t", 60, "1", champions, scores_us);
    assert_int_equal(forecast_from_runs(&forecast, folder, "x/self", "t", "NVIDIA X", &error), 0);
    assert_int_equal(forecast.runs, 2);
    assert_true(forecast.trials_per_s == 6); /* of 2 and 10 */
    assert_true(forecast.near_best_after == 30);
    forecast_print(&forecast, 0, 3600, 1, text);
    assert_string_equal(
        text,
        "6.0 trials/s, about 21600 trials in 1:00:00; within 3 % of the best in some 0:00:05");
    forecast_print(&forecast, 90, 3600, 2, text);
    assert_string_equal(
        text, "6.0 trials/s, about 90 trials in 0:00:15 (45 trials, 0:00:07 a goal); within "
              "3 % of the best in some 0:00:10");
    forecast_print(&forecast, 20, 0, 1, text);
    assert_string_equal(text,
                        "6.0 trials/s, about 20 trials in 0:00:03; too few to come within 3 % "
                        "of the best: that takes some 30");
    assert_int_equal(forecast_from_runs(&forecast, folder, "self", "t", "NVIDIA Y", &error), 0);
    assert_int_equal(forecast.runs, 0);
    assert_int_equal(forecast_from_runs(&forecast, "/nowhere", "self", "t", "NVIDIA Y", &error),
                     -1);
}

static void near_best_follows_gains(void **state) {
    (void)state;
    const struct store_champion champions[] = {
        {.goal = 0, .trial = 0, .score_us = 10},    {.goal = 1, .trial = 3, .score_us = 8},
        {.goal = 0, .trial = 40, .score_us = 9.8},  /* 2 %: no gain that counts yet */
        {.goal = 0, .trial = 70, .score_us = 9.65}, /* 3.6 % since the first */
        {.goal = 0, .trial = 90, .score_us = 9.6},
    };
    assert_int_equal(forecast_near_best(champions, 5, 0, 2), 4 * 70);
    assert_int_equal(forecast_near_best(champions, 5, 1, 2), 200); /* 100 of each goal */
    assert_int_equal(forecast_near_best(champions, 0, 0, 1), 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(earlier_runs_tell, make_folder, remove_folder),
        cmocka_unit_test(near_best_follows_gains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
