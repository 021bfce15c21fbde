/* simulation: runs are complete, repeatable, and independent of the number of processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/statistics.h"
#include "simulate/simulation.h"

enum { TRIALS = 120, SEEDS = 6 };

static const char *const strategies[] = {"random", "evolve"};

static struct recorded *read_space(void) {
    struct error error = {0};
    struct recorded *recorded = recorded_read("tests/spaces/pnpoly_RTX_3090.json.gz", &error);
    if (recorded == NULL)
        fail_msg("%s", error.text);
    return recorded;
}

static struct simulation simulate(struct recorded *const *spaces, int jobs, int in_flight,
                                  double noise) {
    struct simulation simulation = {.spaces = spaces,
                                    .space_count = 1,
                                    .strategies = strategies,
                                    .strategy_count = 2,
                                    .seeds = SEEDS,
                                    .first_seed = 1,
                                    .trials = TRIALS,
                                    .in_flight = in_flight,
                                    .noise = noise,
                                    .jobs = jobs};
    struct error error = {0};
    if (simulation_run(&simulation, &error) < 0)
        fail_msg("%s", error.text);
    return simulation;
}

static void no_row_is_visited_twice(void **state) {
    (void)state;
    struct recorded *recorded = read_space();
    bool *seen = calloc((size_t)recorded->row_count, sizeof *seen);
    static const int in_flight[] = {1, 64, 1000};
    for (int k = 0; k < 3; k++) {
        struct simulation simulation = simulate(&recorded, 2, in_flight[k], 0);
        for (int strategy = 0; strategy < 2; strategy++)
            for (int seed = 0; seed < SEEDS; seed++) {
                struct visits visits = simulation_visits(&simulation, 0, strategy, seed);
                assert_int_equal(visits.count, TRIALS);
                memset(seen, 0, (size_t)recorded->row_count * sizeof *seen);
                for (int i = 0; i < TRIALS; i++) {
                    assert_in_range(visits.rows[i], 0, recorded->row_count - 1);
                    assert_false(seen[visits.rows[i]]);
                    seen[visits.rows[i]] = true;
                }
            }
        assert_true(simulation_speed(&simulation, 0, 1) > 0);
        simulation_release(&simulation);
    }
    free(seen);
    recorded_free(recorded);
}

static void jobs_change_nothing(void **state) {
    (void)state;
    struct recorded *recorded = read_space();
    struct simulation one = simulate(&recorded, 1, 1, 0);
    struct simulation four = simulate(&recorded, 4, 1, 0);
    for (int strategy = 0; strategy < 2; strategy++)
        for (int seed = 0; seed < SEEDS; seed++) {
            struct visits a = simulation_visits(&one, 0, strategy, seed);
            struct visits b = simulation_visits(&four, 0, strategy, seed);
            assert_int_equal(a.count, b.count);
            assert_memory_equal(a.rows, b.rows, (size_t)a.count * sizeof *a.rows);
        }
    simulation_release(&one);
    simulation_release(&four);
    recorded_free(recorded);
}

/* Noise changes only strategies that use the answers, in the same way for any number of
   processes. */
static void noise_is_in_the_answers(void **state) {
    (void)state;
    struct recorded *recorded = read_space();
    struct simulation exact = simulate(&recorded, 2, 1, 0);
    struct simulation one = simulate(&recorded, 1, 1, 5);
    struct simulation four = simulate(&recorded, 4, 1, 5);
    for (int strategy = 0; strategy < 2; strategy++)
        for (int seed = 0; seed < SEEDS; seed++) {
            const size_t bytes = TRIALS * sizeof(uint32_t);
            struct visits a = simulation_visits(&one, 0, strategy, seed);
            struct visits b = simulation_visits(&four, 0, strategy, seed);
            struct visits c = simulation_visits(&exact, 0, strategy, seed);
            assert_memory_equal(a.rows, b.rows, bytes);
            assert_int_equal(memcmp(a.rows, c.rows, bytes) == 0, strategy == 0);
        }
    simulation_release(&exact);
    simulation_release(&one);
    simulation_release(&four);
    recorded_free(recorded);
}

/* score_runs equals a second implementation of the score's definition, on real visits. */
static void score_is_the_definition(void **state) {
    (void)state;
    struct recorded *recorded = read_space();
    struct simulation simulation = simulate(&recorded, 2, 8, 0);
    struct visits runs[SEEDS];
    double random[TRIALS], curve[TRIALS], areas = 0, by_chance = 0;
    for (int seed = 0; seed < SEEDS; seed++) {
        double best = INFINITY;
        runs[seed] = simulation_visits(&simulation, 0, 1, seed);
        for (int k = 0; k < TRIALS; k++) {
            uint32_t row = runs[seed].rows[k];
            if (recorded->verdicts[row] == VERDICT_OK && recorded->times_us[row] < best)
                best = recorded->times_us[row];
            areas += (isinf(best) ? 0 : recorded->best_us / best) / TRIALS / SEEDS;
        }
    }
    score_random_curve(recorded, TRIALS, random);
    for (int k = 0; k < TRIALS; k++)
        by_chance += random[k] / TRIALS;
    struct score score = score_runs(recorded, runs, SEEDS, TRIALS, 1, random, curve);
    assert_true(fabs(score.area - areas) < 1e-12);
    assert_true(fabs(score.gain - (areas - by_chance) / (1 - by_chance)) < 1e-12);
    simulation_release(&simulation);
    recorded_free(recorded);
}

/* With correct predictions, runs start with the fastest of them; the same for any number of
   processes. */
static void predictions_are_used(void **state) {
    (void)state;
    struct recorded *recorded = read_space();
    const double *right_us = recorded->times_us;
    double *predicted_us = calloc((size_t)recorded->row_count, sizeof *predicted_us);
    double middle_us = statistics_median(right_us, (int)recorded->row_count);
    for (int64_t row = 0; row < recorded->row_count; row++)
        predicted_us[row] = isfinite(right_us[row]) ? right_us[row] : NAN;
    struct simulation simulations[2];
    for (int i = 0; i < 2; i++) {
        struct error error = {0};
        simulations[i] = (struct simulation){.spaces = &recorded,
                                             .space_count = 1,
                                             .strategies = &strategies[1],
                                             .strategy_count = 1,
                                             .seeds = SEEDS,
                                             .trials = TRIALS,
                                             .in_flight = 1,
                                             .predicted_us = predicted_us,
                                             .predict = 100,
                                             .jobs = 1 + 2 * i};
        assert_int_equal(simulation_run(&simulations[i], &error), 0);
    }
    for (int seed = 0; seed < SEEDS; seed++) {
        struct visits a = simulation_visits(&simulations[0], 0, 0, seed);
        struct visits b = simulation_visits(&simulations[1], 0, 0, seed);
        assert_int_equal(a.count, TRIALS);
        assert_memory_equal(a.rows, b.rows, TRIALS * sizeof *a.rows);
        assert_true(right_us[a.rows[0]] <= right_us[a.rows[1]]);
        assert_true(right_us[a.rows[3]] < middle_us);
    }
    simulation_release(&simulations[0]);
    simulation_release(&simulations[1]);
    free(predicted_us);
    recorded_free(recorded);
}

static void unknown_strategy_is_refused(void **state) {
    (void)state;
    struct recorded *recorded = read_space();
    const char *const wrong[] = {"rendom"};
    struct simulation simulation = {.spaces = &recorded,
                                    .space_count = 1,
                                    .strategies = wrong,
                                    .strategy_count = 1,
                                    .seeds = 1,
                                    .trials = 1,
                                    .in_flight = 1,
                                    .jobs = 1};
    struct error error = {0};
    assert_int_equal(simulation_run(&simulation, &error), -1);
    assert_non_null(strstr(error.text, "'rendom'"));
    simulation_release(&simulation);
    recorded_free(recorded);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_row_is_visited_twice), cmocka_unit_test(jobs_change_nothing),
        cmocka_unit_test(noise_is_in_the_answers), cmocka_unit_test(score_is_the_definition),
        cmocka_unit_test(predictions_are_used),    cmocka_unit_test(unknown_strategy_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
