/* Whole attention trials on a real GPU, in this process: 500 duels of a kernel against itself,
   each built, loaded and captured again; and the cost of a race loser, a race winner and a
   champion. One line per shape and test. EVOTILE_DUELS (500) duels take about a minute per
   shape. */
#include "exploits/harness.h"

#include "base/clock.h"
#include "base/statistics.h"
#include "device/cuda.h"
#include "evaluate/evaluator.h"
#include "pool/settings.h"

enum { DUELS_MAX = 2000, TRIALS = 50 };

static const char *const shapes[] = {
    "{\"B\": 2, \"H\": 8, \"S\": 512, \"D\": 64}",
    "{\"B\": 1, \"H\": 1, \"S\": 128, \"D\": 64}",
};
enum { SHAPE_COUNT = sizeof shapes / sizeof *shapes };

struct trial_fixture {
    struct device *device;
    struct config *config;
    struct evaluation_settings settings;
    struct compiler *compiler;
    struct evaluator *evaluator;
    struct genome genome;
    struct device_image images[CASES_MAX];
    double alone_us; /* of the genome */
    uint64_t seed;
};

static void run_trial(struct trial_fixture *trial_fixture, struct trial_request *request,
                      struct trial_result *result) {
    struct error error = {0};
    request->genome = trial_fixture->genome;
    request->seed = ++trial_fixture->seed;
    *result = (struct trial_result){.genome = trial_fixture->genome, .opponent = -1};
    must(evaluator_run(trial_fixture->evaluator, request, trial_fixture->images, result, &error),
         &error);
    if (result->outcome.verdict != VERDICT_OK)
        fail_msg("%s: %s", verdict_name(result->outcome.verdict), result->outcome.reason);
}

static void trial_fixture_open(struct trial_fixture *trial_fixture, const char *shape) {
    struct error error = {0};
    char text[512];
    struct trial_request request = {.full = true};
    struct trial_result result = {0};
    *trial_fixture = (struct trial_fixture){.device = device_open("cuda:0", &error)};
    must(trial_fixture->device != NULL ? 0 : -1, &error);
    snprintf(text, sizeof text, "{\"template\": \"attention_fwd\", \"cases\": [%s]}", shape);
    trial_fixture->config =
        config_from_text("judging.json", text, "templates/attention_fwd", &error);
    must(trial_fixture->config != NULL ? 0 : -1, &error);
    evaluation_settings_from_config(&trial_fixture->settings, trial_fixture->config);
    trial_fixture->compiler =
        compiler_new(&trial_fixture->settings, &trial_fixture->device->info, NULL, &error);
    must(trial_fixture->compiler != NULL ? 0 : -1, &error);
    trial_fixture->evaluator = evaluator_new(&trial_fixture->settings, trial_fixture->device,
                                             trial_fixture->compiler, &error);
    must(trial_fixture->evaluator != NULL ? 0 : -1, &error);
    const struct template *template = compiler_template(trial_fixture->compiler, 0, &error);
    must(template != NULL ? 0 : -1, &error);
    trial_fixture->genome = genome_default(template->space);
    request.genome = trial_fixture->genome;
    must(compiler_build(trial_fixture->compiler, &request, trial_fixture->images, &result, &error),
         &error);
    trial_result_release(&result);
    run_trial(trial_fixture, &request, &result);
    trial_fixture->alone_us = result.outcome.score_us;
    trial_result_release(&result);
}

static void trial_fixture_close(struct trial_fixture *trial_fixture) {
    for (int c = 0; c < CASES_MAX; c++)
        nvrtc_image_release(&trial_fixture->images[c]);
    evaluator_free(trial_fixture->evaluator);
    compiler_free(trial_fixture->compiler);
    evaluation_settings_release(&trial_fixture->settings);
    config_free(trial_fixture->config);
    device_close(trial_fixture->device);
}

static struct trial_fixture trial_fixtures[SHAPE_COUNT];

/* The champion's score is set to twice the kernel's, so that every trial is near enough for a
   duel; the final checks still do not run. */
static void kernel_seldom_beats_itself(void **state) {
    struct trial_fixture *trial_fixture = *state;
    static double ratios[DUELS_MAX];
    const char *asked = getenv("EVOTILE_DUELS");
    int count = asked != NULL ? atoi(asked) : 500;
    int results[DUEL_UNDECIDED + 1] = {0};
    double start = clock_seconds();
    assert_in_range(count, 1, DUELS_MAX);
    for (int i = 0; i < count; i++) {
        struct trial_request request = {
            .champion_us = 2 * trial_fixture->alone_us,
            .opponent = {.present = true, .genome = trial_fixture->genome}};
        struct trial_result result;
        run_trial(trial_fixture, &request, &result);
        results[result.outcome.duel.result]++;
        ratios[i] = result.outcome.duel.ratio;
        trial_result_release(&result);
    }
    printf("A/A, attention_fwd %s, %.2f us: %d won, %d lost, %d undecided of %d; ratio %.4f, p1 "
           "%.4f, p99 %.4f; %.0f s\n",
           shapes[trial_fixture - trial_fixtures], trial_fixture->alone_us, results[DUEL_WON],
           results[DUEL_LOST], results[DUEL_UNDECIDED], count, statistics_median(ratios, count),
           statistics_percentile(ratios, count, 1), statistics_percentile(ratios, count, 99),
           clock_seconds() - start);
    fflush(stdout);
    assert_int_equal(results[DUEL_NONE], 0);
    assert_true((results[DUEL_WON] + results[DUEL_LOST]) * 100 <= count);
}

/* Means over TRIALS trials, in milliseconds of wall time in the device worker. */
static void measure_cost(struct trial_fixture *trial_fixture, const char *what,
                         const struct trial_request *like) {
    double verify_s = 0;
    double measure_s = 0;
    double start = clock_seconds();
    for (int i = 0; i < TRIALS; i++) {
        struct trial_request request = *like;
        struct trial_result result;
        run_trial(trial_fixture, &request, &result);
        verify_s += result.outcome.verify_s;
        measure_s += result.outcome.measure_s;
        trial_result_release(&result);
    }
    printf(
        "cost, attention_fwd %s, %s: %.1f ms per trial: %.1f correctness, %.1f from race to end\n",
        shapes[trial_fixture - trial_fixtures], what, 1e3 * (clock_seconds() - start) / TRIALS,
        1e3 * verify_s / TRIALS, 1e3 * measure_s / TRIALS);
    fflush(stdout);
}

static void trials_cost(void **state) {
    struct trial_fixture *trial_fixture = *state;
    double us = trial_fixture->alone_us;
    const struct trial_opponent itself = {.present = true, .genome = trial_fixture->genome};
    measure_cost(trial_fixture, "loses the race", &(struct trial_request){.champion_us = us / 2});
    measure_cost(trial_fixture, "is timed", &(struct trial_request){.champion_us = us / 1.1});
    measure_cost(trial_fixture, "duel against the champion",
                 &(struct trial_request){.champion_us = 2 * us, .opponent = itself});
    measure_cost(trial_fixture, "becomes champion", &(struct trial_request){.champion_us = 2 * us});
}

int main(void) {
    struct error error = {0};
    if (cuda_device_count(&error) == 0) {
        printf("skipped: no GPU\n");
        return 77;
    }
    struct CMUnitTest tests[2 * SHAPE_COUNT];
    for (int s = 0; s < SHAPE_COUNT; s++) {
        trial_fixture_open(&trial_fixtures[s], shapes[s]);
        tests[2 * s] = (struct CMUnitTest){
            .name = "trials_cost", .test_func = trials_cost, .initial_state = &trial_fixtures[s]};
        tests[2 * s + 1] = (struct CMUnitTest){.name = "kernel_seldom_beats_itself",
                                               .test_func = kernel_seldom_beats_itself,
                                               .initial_state = &trial_fixtures[s]};
    }
    int failed = cmocka_run_group_tests_name("trial cost on a GPU", tests, NULL, NULL);
    for (int s = 0; s < SHAPE_COUNT; s++)
        trial_fixture_close(&trial_fixtures[s]);
    return failed;
}
