/* Duels between graphs with scripted samples. */
#include "trial/duel.h"

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
        samples_us[i] =
            graph->us * (1 + graph->scatter * normal()) * (1 + graph->drift * script.samples++);
    }
    return VERDICT_OK;
}

static const struct device_backend scripted = {.scheme = "script", .graph_sample = sample};
static struct device device = {.backend = &scripted};

static struct duel_corner corner(struct device_graph *graph) {
    return (struct duel_corner){.device = &device, .graph = graph};
}

static const struct duel_settings ordinary = {.blocks = 10, .margin = 0.005, .tolerance = 0.02};

static struct duel_outcome fight(struct device_graph champion, struct device_graph challenger,
                                 uint64_t seed) {
    struct duel_settings settings = ordinary;
    struct duel_outcome outcome;
    char reason[REASON_SIZE];
    const struct duel_corner corners[DUEL_SIDES] = {corner(&champion), corner(&challenger)};
    settings.seed = seed;
    random_seed(&script.random, seed, 3);
    script.samples = 0;
    struct duel *duel = duel_new(&settings, 1);
    do
        assert_int_equal(duel_round(duel, 0, corners, 20, reason), VERDICT_OK);
    while (!duel_decide(duel, &outcome));
    duel_free(duel);
    return outcome;
}

/* ---- one case ---- */

static void a_bias_within_the_margin_decides_nothing(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct duel_outcome outcome =
            fight((struct device_graph){.us = 8.9, .scatter = 0.0006},
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
        assert_int_equal(fight(fast, slow, seed).result, DUEL_LOST);
        struct duel_outcome outcome = fight(slow, fast, seed);
        assert_int_equal(outcome.result, DUEL_WON);
        assert_true(outcome.low <= outcome.ratio && outcome.ratio <= outcome.high);
        assert_true(outcome.high < 0.995);
    }
}

static void drift_does_not_decide(void **state) {
    (void)state;
    struct device_graph slowing = {.us = 8.9, .scatter = 0.0002, .drift = 0.0005};
    struct duel_outcome outcome = fight(slowing, slowing, 1);
    assert_int_equal(outcome.result, DUEL_UNDECIDED);
    assert_true(fabs(outcome.ratio - 1) < 0.001);
}

static void what_scatters_gets_more_rounds(void **state) {
    (void)state;
    struct duel_outcome outcome = fight((struct device_graph){.us = 8.9, .scatter = 0.05},
                                        (struct device_graph){.us = 8.9, .scatter = 0.05}, 2);
    assert_int_equal(outcome.result, DUEL_UNDECIDED);
    assert_int_equal(outcome.blocks, 40);
}

static void the_same_seed_gives_the_same_interval(void **state) {
    (void)state;
    struct device_graph one = {.us = 5, .scatter = 0.001};
    struct duel_outcome a = fight(one, one, 7);
    struct duel_outcome b = fight(one, one, 7);
    assert_true(a.low == b.low && a.high == b.high && a.ratio == b.ratio);
}

/* A side without a graph is sampled by its callback. */
static enum verdict sample_other(void *context, int count, double *samples_us, char *reason) {
    return sample(NULL, context, count, samples_us, reason);
}

static void a_bout_has_the_samples_of_both(void **state) {
    (void)state;
    struct device_graph one = {.us = 4, .scatter = 0.0006};
    struct device_graph other = {.us = 6, .scatter = 0.0006};
    const struct duel_corner corners[DUEL_SIDES] = {{.sample = sample_other, .context = &other},
                                                    corner(&one)};
    struct duel_outcome outcome;
    char reason[REASON_SIZE];
    random_seed(&script.random, 9, 3);
    script.samples = 0;
    struct duel *duel = duel_new(&ordinary, 1);
    do
        assert_int_equal(duel_round(duel, 0, corners, 20, reason), VERDICT_OK);
    while (!duel_decide(duel, &outcome));
    struct bout bout = duel_bout(duel, 0);
    duel_free(duel);
    assert_int_equal(outcome.result, DUEL_WON);
    /* With one case the case result equals the duel's outcome. */
    assert_true(bout.ratio == outcome.ratio && bout.low == outcome.low &&
                bout.high == outcome.high);
    assert_true(fabs(bout.p50_us / 4 - 1) < 0.001 && fabs(bout.rival_p50_us / 6 - 1) < 0.001);
    assert_true(bout.p90_us > bout.p50_us && bout.rival_p90_us > bout.rival_p50_us);
    assert_true(bout.p90_us < 4 * 1.002 && bout.rival_p90_us < 6 * 1.002);
}

static void a_hang_ends_it(void **state) {
    (void)state;
    struct device_graph good = {.us = 5};
    struct device_graph bad = {.us = 5, .fails_after = 30};
    const struct duel_corner corners[DUEL_SIDES] = {corner(&good), corner(&bad)};
    char reason[REASON_SIZE] = "";
    script.samples = 0;
    struct duel *duel = duel_new(&ordinary, 1);
    assert_int_equal(duel_round(duel, 0, corners, 20, reason), VERDICT_TIMEOUT);
    assert_string_equal(reason, "still running after 1 s");
    duel_free(duel);
}

static void graphs_are_short(void **state) {
    (void)state;
    assert_int_equal(duel_launches(4, 4), 80);
    assert_int_equal(duel_launches(10, 4), 32);
    assert_int_equal(duel_launches(100, 4), 4);
    assert_int_equal(duel_launches(9000, 4), 4); /* every input set once */
    assert_int_equal(duel_launches(0.5, 4), 100);
}

/* ---- several cases ---- */

static enum duel_result fight_cases(const double *ratios, int count, double *worst, int *slowest) {
    struct duel_outcome outcome;
    char reason[REASON_SIZE];
    struct duel *duel = duel_new(&ordinary, count);
    random_seed(&script.random, 5, 3);
    script.samples = 0;
    do
        for (int c = 0; c < count; c++) {
            struct device_graph champion = {.us = 10 * (c + 1), .scatter = 0.0005};
            struct device_graph challenger = {.us = 10 * (c + 1) * ratios[c], .scatter = 0.0005};
            const struct duel_corner corners[DUEL_SIDES] = {corner(&champion), corner(&challenger)};
            assert_int_equal(duel_round(duel, c, corners, 20, reason), VERDICT_OK);
        }
    while (!duel_decide(duel, &outcome));
    *slowest = duel_worst_case(duel, worst);
    duel_free(duel);
    return outcome.result;
}

static void cases_weigh_alike(void **state) {
    (void)state;
    double worst;
    int slowest;
    assert_int_equal(fight_cases((double[]){0.90, 1.01, 0.99}, 3, &worst, &slowest), DUEL_WON);
    assert_int_equal(slowest, 1);
    assert_true(fabs(worst - 1.01) < 0.002);
    assert_int_equal(fight_cases((double[]){0.90, 1.20, 0.99}, 3, &worst, &slowest), DUEL_LOST);
    assert_int_equal(fight_cases((double[]){1.01, 1 / 1.01}, 2, &worst, &slowest), DUEL_UNDECIDED);
}

static void no_case_may_lose_much(void **state) {
    (void)state;
    double worst;
    int slowest;
    assert_int_equal(fight_cases((double[]){0.80, 1.03}, 2, &worst, &slowest), DUEL_LOST);
    assert_int_equal(fight_cases((double[]){0.80, 1.015}, 2, &worst, &slowest), DUEL_WON);
}

/* ---- a GPU that is slowed down ---- */

static int readings, throttled_readings;

static void read_script(void *context, struct nvml_state *state) {
    (void)context;
    *state = (struct nvml_state){.sm_mhz = 1980, .memory_mhz = 3201, .temperature_c = 40};
    /* Every reading reports the power cap, which does not count as throttling. */
    state->slowdowns = readings++ < throttled_readings ? 0x4 | 0x40 : 0x4;
}

static struct conditions watched(int throttled, int *samples) {
    struct duel_settings settings = ordinary;
    struct device_graph one = {.us = 5};
    const struct duel_corner corners[DUEL_SIDES] = {corner(&one), corner(&one)};
    char reason[REASON_SIZE];
    readings = 0;
    throttled_readings = throttled;
    script.samples = 0;
    settings.watch = watch_over(read_script, NULL);
    watch_begin(settings.watch);
    struct duel *duel = duel_new(&settings, 1);
    assert_int_equal(duel_round(duel, 0, corners, 20, reason), VERDICT_OK);
    *samples = script.samples;
    struct conditions conditions = watch_conditions(settings.watch);
    duel_free(duel);
    watch_free(settings.watch);
    return conditions;
}

static void a_throttled_round_is_fought_again(void **state) {
    (void)state;
    int once;
    int twice;
    int always;
    struct conditions conditions = watched(0, &once);
    assert_int_equal(conditions.discarded, 0);
    assert_int_equal(conditions.slowdowns, 0x4);
    assert_int_equal(conditions.sm_mhz_low, 1980);
    assert_int_equal(conditions.temperature_c, 40);
    conditions = watched(1, &twice);
    assert_int_equal(conditions.discarded, 1);
    assert_int_equal(conditions.slowdowns, 0x44);
    assert_int_equal(twice, 2 * once);
    conditions = watched(1000, &always);
    assert_int_equal(conditions.discarded, 3); /* bounded */
    assert_int_equal(always, 3 * once);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bias_within_the_margin_decides_nothing),
        cmocka_unit_test(one_percent_is_decided),
        cmocka_unit_test(drift_does_not_decide),
        cmocka_unit_test(what_scatters_gets_more_rounds),
        cmocka_unit_test(the_same_seed_gives_the_same_interval),
        cmocka_unit_test(a_bout_has_the_samples_of_both),
        cmocka_unit_test(a_hang_ends_it),
        cmocka_unit_test(graphs_are_short),
        cmocka_unit_test(cases_weigh_alike),
        cmocka_unit_test(no_case_may_lose_much),
        cmocka_unit_test(a_throttled_round_is_fought_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
