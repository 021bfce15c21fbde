/* Duels between graphs with scripted samples. */
#include "evaluate/duel.h"

#include "base/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* ---- a scripted device ---- */

struct device_graph {
    double us;      /* per call */
    double scatter; /* standard deviation, relative */
    double drift;   /* relative drift per sample, of the whole device */
    int fails_after;
    int late, sampled; /* how many of its first samples take twice as long; samples so far */
};

static struct {
    struct random random;
    int samples;
} script;

static double normal(void) {
    double sum = 0;
    for (int i = 0; i < 12; i++)
        sum += random_uniform(&script.random);
    return sum - 6;
}

static enum verdict sample(struct device *device, struct device_graph *graph, int count,
                           double *samples_us, char *reason) {
    (void)device;
    for (int i = 0; i < count; i++) {
        if (graph->fails_after > 0 && script.samples >= graph->fails_after) {
            snprintf(reason, REASON_SIZE, "still running after 1 s");
            return VERDICT_TIMEOUT;
        }
        samples_us[i] = graph->us * (1 + graph->scatter * normal()) *
                        (1 + graph->drift * script.samples++) *
                        (graph->sampled++ < graph->late ? 2 : 1);
    }
    return VERDICT_OK;
}

static const struct device_backend scripted = {.scheme = "script", .graph_sample = sample};
static struct device device = {.backend = &scripted};

static struct duel_sampler sampler(struct device_graph *graph) {
    return (struct duel_sampler){.device = &device, .graph = graph};
}

static const struct duel_settings default_settings = {
    .blocks = 10, .margin = 0.005, .tolerance = 0.02};

static struct duel_outcome run_duel(struct device_graph champion, struct device_graph challenger,
                                    uint64_t seed) {
    struct duel_settings settings = default_settings;
    struct duel_outcome outcome;
    char reason[REASON_SIZE];
    const struct duel_sampler samplers[DUEL_SIDES] = {sampler(&champion), sampler(&challenger)};
    settings.seed = seed;
    random_seed(&script.random, seed, 3);
    script.samples = 0;
    struct duel *duel = duel_new(&settings, 1);
    do
        assert_int_equal(duel_round(duel, 0, samplers, 20, reason), VERDICT_OK);
    while (!duel_decide(duel, &outcome));
    duel_free(duel);
    return outcome;
}

/* ---- one case ---- */

static void bias_within_the_margin_is_undecided(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct duel_outcome outcome =
            run_duel((struct device_graph){.us = 8.9, .scatter = 0.0006},
                     (struct device_graph){.us = 8.9 * 1.0008, .scatter = 0.0006}, seed);
        assert_int_equal(outcome.result, DUEL_UNDECIDED);
        assert_int_equal(outcome.blocks, 10); /* equal: no further round is needed */
    }
}

static void one_percent_is_decided(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct device_graph slow = {.us = 4.04, .scatter = 0.0006};
        struct device_graph fast = {.us = 4, .scatter = 0.0006};
        assert_int_equal(run_duel(fast, slow, seed).result, DUEL_LOST);
        struct duel_outcome outcome = run_duel(slow, fast, seed);
        assert_int_equal(outcome.result, DUEL_WON);
        assert_true(outcome.low <= outcome.ratio && outcome.ratio <= outcome.high);
        assert_true(outcome.high < 0.995);
    }
}

/* Blocks A B A B would report the drift from one segment to the next, 1 %, as B's. */
static void linear_drift_cancels(void **state) {
    (void)state;
    const double drifts[] = {0.005, -0.005};
    for (int i = 0; i < 2; i++) {
        struct device_graph slow = {.us = 8.9 * 1.01, .scatter = 0.0002, .drift = drifts[i]};
        struct device_graph fast = {.us = 8.9, .scatter = 0.0002, .drift = drifts[i]};
        struct duel_outcome outcome = run_duel(fast, fast, 1);
        assert_int_equal(outcome.result, DUEL_UNDECIDED);
        assert_true(fabs(outcome.ratio - 1) < 0.001);
        outcome = run_duel(slow, fast, 1);
        assert_int_equal(outcome.result, DUEL_WON);
        assert_true(fabs(outcome.ratio * 1.01 - 1) < 0.001);
    }
}

/* A kernel's first calls load its code and fill caches: two samples of each segment of the first
   block, and the one that chose their number. */
static void first_block_does_not_count(void **state) {
    (void)state;
    struct device_graph warm = {.us = 8.9, .scatter = 0.0002};
    struct device_graph cold = {.us = 8.9, .scatter = 0.0002, .late = 3};
    struct duel_outcome outcome = run_duel(warm, cold, 1);
    assert_int_equal(outcome.result, DUEL_UNDECIDED);
    assert_true(fabs(outcome.ratio - 1) < 0.001);
}

static void noisy_duel_gets_more_rounds(void **state) {
    (void)state;
    struct duel_outcome outcome = run_duel((struct device_graph){.us = 8.9, .scatter = 0.05},
                                           (struct device_graph){.us = 8.9, .scatter = 0.05}, 2);
    assert_int_equal(outcome.result, DUEL_UNDECIDED);
    assert_int_equal(outcome.blocks, 40);
}

static void the_same_seed_gives_the_same_interval(void **state) {
    (void)state;
    struct device_graph one = {.us = 5, .scatter = 0.001};
    struct duel_outcome a = run_duel(one, one, 7);
    struct duel_outcome b = run_duel(one, one, 7);
    assert_true(a.low == b.low && a.high == b.high && a.ratio == b.ratio);
}

/* A side without a graph is sampled by its callback. */
static enum verdict sample_by_callback(void *context, int count, double *samples_us, char *reason) {
    return sample(NULL, context, count, samples_us, reason);
}

static void case_result_has_both_sides_samples(void **state) {
    (void)state;
    struct device_graph one = {.us = 4, .scatter = 0.0006};
    struct device_graph other = {.us = 6, .scatter = 0.0006};
    const struct duel_sampler samplers[DUEL_SIDES] = {
        {.sample = sample_by_callback, .context = &other}, sampler(&one)};
    struct duel_outcome outcome;
    char reason[REASON_SIZE];
    random_seed(&script.random, 9, 3);
    script.samples = 0;
    struct duel *duel = duel_new(&default_settings, 1);
    do
        assert_int_equal(duel_round(duel, 0, samplers, 20, reason), VERDICT_OK);
    while (!duel_decide(duel, &outcome));
    struct case_result case_result = duel_case_result(duel, 0);
    duel_free(duel);
    assert_int_equal(outcome.result, DUEL_WON);
    /* With one case the case result equals the duel's outcome. */
    assert_true(case_result.ratio == outcome.ratio && case_result.low == outcome.low &&
                case_result.high == outcome.high);
    assert_true(fabs(case_result.p50_us / 4 - 1) < 0.001 &&
                fabs(case_result.rival_p50_us / 6 - 1) < 0.001);
    assert_true(case_result.p90_us > case_result.p50_us &&
                case_result.rival_p90_us > case_result.rival_p50_us);
    assert_true(case_result.p90_us < 4 * 1.002 && case_result.rival_p90_us < 6 * 1.002);
    assert_true(case_result.p90_ratio == case_result.p90_us / case_result.rival_p90_us);
}

static void hang_ends_the_duel(void **state) {
    (void)state;
    struct device_graph good = {.us = 5};
    struct device_graph bad = {.us = 5, .fails_after = 30};
    const struct duel_sampler samplers[DUEL_SIDES] = {sampler(&good), sampler(&bad)};
    char reason[REASON_SIZE] = "";
    script.samples = 0;
    struct duel *duel = duel_new(&default_settings, 1);
    assert_int_equal(duel_round(duel, 0, samplers, 20, reason), VERDICT_TIMEOUT);
    assert_string_equal(reason, "still running after 1 s");
    duel_free(duel);
}

static void graphs_are_at_most_a_segment(void **state) {
    (void)state;
    assert_int_equal(duel_launches(4, 4), 80);
    assert_int_equal(duel_launches(10, 4), 32);
    assert_int_equal(duel_launches(100, 4), 3);
    assert_int_equal(duel_launches(9000, 4), 1); /* each replay another input set */
    assert_int_equal(duel_launches(0.5, 4), 100);
}

/* ---- several cases ---- */

static struct duel_outcome run_weighted_duel(const double *ratios, const double *weights, int count,
                                             double *worst, int *slowest) {
    struct duel_outcome outcome;
    char reason[REASON_SIZE];
    struct duel_settings settings = default_settings;
    settings.weights = weights;
    struct duel *duel = duel_new(&settings, count);
    random_seed(&script.random, 5, 3);
    script.samples = 0;
    do
        for (int c = 0; c < count; c++) {
            struct device_graph champion = {.us = 10 * (c + 1), .scatter = 0.0005};
            struct device_graph challenger = {.us = 10 * (c + 1) * ratios[c], .scatter = 0.0005};
            const struct duel_sampler samplers[DUEL_SIDES] = {sampler(&champion),
                                                              sampler(&challenger)};
            assert_int_equal(duel_round(duel, c, samplers, 20, reason), VERDICT_OK);
        }
    while (!duel_decide(duel, &outcome));
    *slowest = duel_worst_case(duel, worst);
    duel_free(duel);
    return outcome;
}

static enum duel_result run_duel_of_cases(const double *ratios, int count, double *worst,
                                          int *slowest) {
    return run_weighted_duel(ratios, NULL, count, worst, slowest).result;
}

static void cases_have_equal_weight(void **state) {
    (void)state;
    double worst;
    int slowest;
    assert_int_equal(run_duel_of_cases((double[]){0.90, 1.01, 0.99}, 3, &worst, &slowest),
                     DUEL_WON);
    assert_int_equal(slowest, 1);
    assert_true(fabs(worst - 1.01) < 0.002);
    assert_int_equal(run_duel_of_cases((double[]){0.90, 1.20, 0.99}, 3, &worst, &slowest),
                     DUEL_LOST);
    assert_int_equal(run_duel_of_cases((double[]){1.01, 1 / 1.01}, 2, &worst, &slowest),
                     DUEL_UNDECIDED);
}

/* One kernel is 1.5 % faster in one case and 1.5 % slower in another: the weights decide, as they
   do in a score. */
static void weights_decide(void **state) {
    (void)state;
    double worst;
    int slowest;
    const double ratios[] = {0.985, 1.015}, first[] = {9, 1}, second[] = {1, 9}, equal[] = {7, 7};
    const struct duel_outcome won = run_weighted_duel(ratios, first, 2, &worst, &slowest);
    assert_int_equal(won.result, DUEL_WON);
    assert_true(fabs(won.ratio - exp((9 * log(0.985) + log(1.015)) / 10)) < 0.0005);
    assert_true(won.low < won.ratio && won.ratio < won.high);
    assert_int_equal(run_weighted_duel(ratios, second, 2, &worst, &slowest).result, DUEL_LOST);
    const struct duel_outcome even = run_weighted_duel(ratios, equal, 2, &worst, &slowest);
    const struct duel_outcome none = run_weighted_duel(ratios, NULL, 2, &worst, &slowest);
    assert_int_equal(even.result, DUEL_UNDECIDED);
    assert_true(fabs(even.ratio - none.ratio) < 1e-12);
}

static void no_case_may_be_much_slower(void **state) {
    (void)state;
    double worst;
    int slowest;
    assert_int_equal(run_duel_of_cases((double[]){0.80, 1.03}, 2, &worst, &slowest), DUEL_LOST);
    assert_int_equal(run_duel_of_cases((double[]){0.80, 1.015}, 2, &worst, &slowest), DUEL_WON);
}

/* ---- a GPU that is slowed down ---- */

static int readings, throttled_readings;

/* ---- slow calls ---- */

/* Runs one round of each case with settled sides, 1 % apart; returns the GPU time. */
static double round_of_slow_calls(const double *call_us, int cases, struct duel_outcome *outcome) {
    struct duel_settings settings = default_settings;
    char reason[REASON_SIZE];
    settings.settle_us = DUEL_SETTLE_US;
    random_seed(&script.random, 1, 3);
    struct duel *duel = duel_new(&settings, cases);
    for (int c = 0; c < cases; c++) {
        struct device_graph slow = {.us = 1.01 * call_us[c], .scatter = 0.0006};
        struct device_graph fast = {.us = call_us[c], .scatter = 0.0006};
        const struct duel_sampler samplers[DUEL_SIDES] = {sampler(&slow), sampler(&fast)};
        assert_int_equal(duel_round(duel, c, samplers, 4, reason), VERDICT_OK);
    }
    assert_true(duel_decide(duel, outcome));
    const double gpu_us = duel_gpu_us(duel);
    duel_free(duel);
    return gpu_us;
}

/* Eager PyTorch on 65,536 bodies takes 0.2 s a call; ten blocks of it took two minutes a round. */
static void slow_calls_have_fewer_blocks(void **state) {
    (void)state;
    static const double call_us[] = {60, 2e3, 10e3, 40e3, 200e3};
    struct duel_outcome outcome;
    for (int i = 0; i < 5; i++) {
        const double gpu_us = round_of_slow_calls(&call_us[i], 1, &outcome);
        const double least_us = DUEL_BLOCKS_MIN * 4 * 2 * 4 * 1.01 * call_us[i];
        assert_int_equal(outcome.result, DUEL_WON);
        assert_in_range(outcome.blocks, DUEL_BLOCKS_MIN, 10);
        assert_true(call_us[i] > 10e3 || outcome.blocks == 10);
        assert_true(gpu_us < fmax(1.1 * DUEL_ROUND_US, 1.2 * least_us));
    }
}

/* The mean over cases is of blocks that all have. */
static void cases_may_have_different_numbers_of_blocks(void **state) {
    (void)state;
    static const double call_us[] = {60, 200e3}, reversed[] = {200e3, 60};
    struct duel_outcome outcome;
    for (int i = 0; i < 2; i++) {
        round_of_slow_calls(i == 0 ? call_us : reversed, 2, &outcome);
        assert_int_equal(outcome.blocks, DUEL_BLOCKS_MIN);
        assert_int_equal(outcome.result, DUEL_WON);
        assert_true(fabs(outcome.ratio - 1 / 1.01) < 0.002);
    }
}

static void read_script(void *context, struct nvml_state *state) {
    (void)context;
    *state = (struct nvml_state){.sm_mhz = 1980, .memory_mhz = 3201, .temperature_c = 40};
    /* Every reading reports the power cap, which does not count as throttling. */
    state->slowdowns = readings++ < throttled_readings ? 0x4 | 0x40 : 0x4;
}

static struct conditions monitored_conditions(int throttled, int *samples) {
    struct duel_settings settings = default_settings;
    struct device_graph one = {.us = 5};
    const struct duel_sampler samplers[DUEL_SIDES] = {sampler(&one), sampler(&one)};
    char reason[REASON_SIZE];
    readings = 0;
    throttled_readings = throttled;
    script.samples = 0;
    settings.clock_monitor = clock_monitor_new_with_reader(read_script, NULL);
    clock_monitor_reset(settings.clock_monitor);
    struct duel *duel = duel_new(&settings, 1);
    assert_int_equal(duel_round(duel, 0, samplers, 20, reason), VERDICT_OK);
    *samples = script.samples;
    struct conditions conditions = clock_monitor_conditions(settings.clock_monitor);
    duel_free(duel);
    clock_monitor_free(settings.clock_monitor);
    return conditions;
}

static void throttled_round_is_repeated(void **state) {
    (void)state;
    int once;
    int twice;
    int always;
    struct conditions conditions = monitored_conditions(0, &once);
    assert_int_equal(conditions.discarded, 0);
    assert_int_equal(conditions.slowdowns, 0x4);
    assert_int_equal(conditions.sm_mhz_low, 1980);
    assert_int_equal(conditions.sm_mhz, 1980);
    assert_int_equal(conditions.temperature_c, 40);
    conditions = monitored_conditions(1, &twice);
    assert_int_equal(conditions.discarded, 1);
    assert_int_equal(conditions.slowdowns, 0x44);
    assert_int_equal(twice, 2 * once);
    conditions = monitored_conditions(1000, &always);
    assert_int_equal(conditions.discarded, 3); /* bounded */
    assert_int_equal(always, 3 * once);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bias_within_the_margin_is_undecided),
        cmocka_unit_test(one_percent_is_decided),
        cmocka_unit_test(linear_drift_cancels),
        cmocka_unit_test(first_block_does_not_count),
        cmocka_unit_test(noisy_duel_gets_more_rounds),
        cmocka_unit_test(the_same_seed_gives_the_same_interval),
        cmocka_unit_test(case_result_has_both_sides_samples),
        cmocka_unit_test(hang_ends_the_duel),
        cmocka_unit_test(graphs_are_at_most_a_segment),
        cmocka_unit_test(cases_have_equal_weight),
        cmocka_unit_test(weights_decide),
        cmocka_unit_test(no_case_may_be_much_slower),
        cmocka_unit_test(slow_calls_have_fewer_blocks),
        cmocka_unit_test(cases_may_have_different_numbers_of_blocks),
        cmocka_unit_test(throttled_round_is_repeated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
