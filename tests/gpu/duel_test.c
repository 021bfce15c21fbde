/* Duels on a real GPU between kernels of known difference: multiply-adds of n and of m
   iterations. Prints the measurements. */
#include "base/error.h"
#include "base/statistics.h"
#include "evaluate/calibrate.h"
#include "evaluate/duel.h"
#include "evaluate/timing_budget.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

enum { SETS = 4, LAUNCHES = 100, CAPTURES = 8, AA_DUELS = 500, SLOWED_DUELS = 100 };

static struct device *device;
static struct nvrtc *nvrtc;
static struct device_module *module;
static uint64_t sink;
static bool hot; /* calls on the tensor cores of all multiprocessors, at the power limit */
static double settle_us;

static struct device_graph *capture(int iterations, int launches) {
    struct device_sequence sequence =
        hot ? calibrate_matrix_call(module, 4 * device->info.sm_count, iterations, sink)
            : calibrate_multiply_add_call(module, device->info.sm_count, iterations, sink);
    const struct device_timing timing = {.launches = launches, .deadline_s = 10};
    struct device_graph *graph;
    char reason[REASON_SIZE];
    if (device->backend->graph_new(device, &sequence, 1, &timing, &graph, reason) != VERDICT_OK)
        fail_msg("%s", reason);
    return graph;
}

/* The mean over several captures: a single one is off by up to a percent at 4 us. */
static double call_us(int iterations) {
    double samples[50];
    double medians[CAPTURES];
    char reason[REASON_SIZE];
    for (int c = 0; c < CAPTURES; c++) {
        struct device_graph *graph = capture(iterations, LAUNCHES);
        for (int i = 0; i < 2; i++)
            if (device->backend->graph_sample(device, graph, 50, samples, reason) != VERDICT_OK)
                fail_msg("%s", reason);
        device->backend->graph_free(device, graph);
        medians[c] = statistics_median(samples, 50);
    }
    return statistics_geometric_mean(medians, CAPTURES);
}

/* The number of iterations that takes the target time, from a line through two points. */
static int iterations_for(double target_us) {
    double few = call_us(100);
    double many = call_us(2100);
    return (int)(100.5 + (target_us - few) / ((many - few) / 2000));
}

struct duel_figures {
    struct duel_outcome outcome;
    double gpu_ms;
};

/* As duel_gate.c does: both captured again each round, in alternating order. */
static struct duel_figures duel_between(int champion, int challenger, double us, uint64_t seed) {
    const struct duel_settings settings = {.blocks = settle_us > 0 ? 4 : 10,
                                           .margin = device->info.duel_margin,
                                           .tolerance = 0.02,
                                           .seed = seed,
                                           .settle_us = settle_us};
    struct duel *duel = duel_new(&settings, 1);
    const int iterations[DUEL_SIDES] = {champion, challenger};
    int launches = duel_launches(us, SETS);
    struct duel_figures duel_figures;
    char reason[REASON_SIZE];
    int round = (int)(seed % 2);
    do {
        struct device_graph *graphs[DUEL_SIDES];
        for (int i = 0; i < DUEL_SIDES; i++) {
            int side = (i + round) % DUEL_SIDES;
            graphs[side] = capture(iterations[side], launches);
        }
        const struct duel_sampler samplers[DUEL_SIDES] = {{.device = device, .graph = graphs[0]},
                                                          {.device = device, .graph = graphs[1]}};
        if (duel_round(duel, 0, samplers, launches, reason) != VERDICT_OK)
            fail_msg("%s", reason);
        for (int i = 0; i < DUEL_SIDES; i++)
            device->backend->graph_free(device, graphs[i]);
        round++;
    } while (!duel_decide(duel, &duel_figures.outcome));
    duel_figures.gpu_ms = duel_gpu_us(duel) / 1000;
    duel_free(duel);
    return duel_figures;
}

struct tally {
    int results[DUEL_UNDECIDED + 1];
    double ratios[AA_DUELS], gpu_ms[AA_DUELS];
};

static void repeat_duels(const char *what, int count, int champion, int challenger, double us,
                         struct tally *tally) {
    *tally = (struct tally){0};
    for (int i = 0; i < count; i++) {
        struct duel_figures duel_figures = duel_between(champion, challenger, us, (uint64_t)i);
        tally->results[duel_figures.outcome.result]++;
        tally->ratios[i] = duel_figures.outcome.ratio;
        tally->gpu_ms[i] = duel_figures.gpu_ms;
    }
    printf("%s, %.2f us: %d won, %d lost, %d undecided of %d; ratio %.5f (p1 %.5f, p99 %.5f); GPU "
           "ms per duel: median %.1f, maximum %.1f\n",
           what, us, tally->results[DUEL_WON], tally->results[DUEL_LOST],
           tally->results[DUEL_UNDECIDED], count, statistics_median(tally->ratios, count),
           statistics_percentile(tally->ratios, count, 1),
           statistics_percentile(tally->ratios, count, 99), statistics_median(tally->gpu_ms, count),
           statistics_percentile(tally->gpu_ms, count, 100));
    fflush(stdout);
}

static void ceilings_make_sense(void **state) {
    (void)state;
    const struct device_info *info = &device->info;
    printf("%s, driver %s: DRAM %.0f GB/s, L2 %.0f GB/s, mma.sync %.0f TFLOP/s, fp32 %.1f TFLOP/s, "
           "empty launch %.3f us, events %.3f us, duel margin %.4f\n",
           info->name, info->driver, info->dram_gb_per_s, info->l2_gb_per_s, info->tensor_tflops,
           info->fp32_tflops, info->launch_us, info->event_us, info->duel_margin);
    assert_true(info->dram_gb_per_s > 50 && info->l2_gb_per_s > info->dram_gb_per_s);
    assert_true(info->fp32_tflops > 1 && info->tensor_tflops > info->fp32_tflops);
    assert_true(info->launch_us > 0.1 && info->launch_us < 20);
    assert_true(info->duel_margin >= 0.005 && info->duel_margin < 0.05);
}

static struct tally tally;

static void kernel_seldom_beats_itself(void **state) {
    (void)state;
    int iterations = iterations_for(8.9);
    repeat_duels("A/A", AA_DUELS, iterations, iterations, call_us(iterations), &tally);
    assert_in_range(tally.results[DUEL_WON] + tally.results[DUEL_LOST], 0, 5);
}

static void one_percent_is_decided(void **state) {
    (void)state;
    static const double targets_us[] = {4, 100};
    for (int i = 0; i < 2; i++) {
        int iterations = iterations_for(targets_us[i]);
        int slowed = iterations_for(1.01 * targets_us[i]);
        printf("%d iterations: %.3f us, %d: %.3f us\n", iterations, call_us(iterations), slowed,
               call_us(slowed));
        repeat_duels("slowed by 1 %", SLOWED_DUELS, iterations, slowed, targets_us[i], &tally);
        assert_in_range(tally.results[DUEL_LOST], 95, SLOWED_DUELS);
        repeat_duels("1 % faster", SLOWED_DUELS, slowed, iterations, targets_us[i], &tally);
        assert_in_range(tally.results[DUEL_WON], 95, SLOWED_DUELS);
    }
}

static void clear_differences_end_early(void **state) {
    (void)state;
    static const double targets_us[] = {4, 10, 100};
    for (int i = 0; i < 3; i++) {
        int iterations = iterations_for(targets_us[i]);
        repeat_duels("1.5 times the time", 20, iterations, iterations_for(1.5 * targets_us[i]),
                     targets_us[i], &tally);
        assert_int_equal(tally.results[DUEL_LOST], 20);
        assert_true(statistics_percentile(tally.gpu_ms, 20, 100) <= 50);
    }
}

/* One sample of a graph of one call, after enough load. */
static double hot_call_us(int iterations) {
    struct device_graph *graph = capture(iterations, 1);
    double samples[50] = {0};
    char reason[REASON_SIZE];
    for (double spent_us = 0; spent_us < BUDGET_STEADY_AFTER_US; spent_us += 51 * samples[0])
        if (device->backend->graph_sample(device, graph, 50, samples, reason) != VERDICT_OK)
            fail_msg("%s", reason);
    device->backend->graph_free(device, graph);
    return statistics_median(samples, 50);
}

/* Calls of 0.4 ms at the power limit: the clock changes while they are compared. EVOTILE_DUELS
   (500), and a fifth of them between calls that differ by 1 %; with settled sides, of which a duel
   has few blocks, a 50th of them, and between calls that differ by 4 %. */
static void hot_calls_are_decided(void **state) {
    (void)state;
    const char *count_text = getenv("EVOTILE_DUELS");
    int count = count_text != NULL ? atoi(count_text) : AA_DUELS;
    count = count < 50 ? 50 : count > AA_DUELS ? AA_DUELS : count;
    hot = true;
    int iterations = (int)(20000 * 400 / hot_call_us(20000));
    double us = hot_call_us(iterations);
    int slowed = (int)(1.01 * iterations + 0.5);
    repeat_duels("hot A/A", count, iterations, iterations, us, &tally);
    assert_in_range(tally.results[DUEL_WON] + tally.results[DUEL_LOST], 0, count / 100);
    repeat_duels("hot, slowed by 1 %", count / 5, iterations, slowed, us, &tally);
    assert_in_range(tally.results[DUEL_LOST], count / 5 - count / 100, count / 5);
    repeat_duels("hot, 1 % faster", count / 5, slowed, iterations, us, &tally);
    assert_in_range(tally.results[DUEL_WON], count / 5 - count / 100, count / 5);
    settle_us = DUEL_SETTLE_US;
    slowed = (int)(1.04 * iterations + 0.5);
    repeat_duels("settled A/A", count / 50, iterations, iterations, us, &tally);
    assert_in_range(tally.results[DUEL_WON] + tally.results[DUEL_LOST], 0, 1);
    repeat_duels("settled, slowed by 4 %", count / 50, iterations, slowed, us, &tally);
    assert_int_equal(tally.results[DUEL_LOST], count / 50);
    settle_us = 0;
    hot = false;
}

/* EVOTILE_DEVICE replaces cuda:0; EVOTILE_ONLY selects one of the tests. */
int main(void) {
    struct error error = {0};
    const char *spec = getenv("EVOTILE_DEVICE");
    if (getenv("EVOTILE_ONLY") != NULL)
        cmocka_set_test_filter(getenv("EVOTILE_ONLY"));
    device = device_open(spec != NULL ? spec : "cuda:0", &error);
    if (device == NULL) {
        printf("skipped: %s\n", error.text);
        return 77;
    }
    nvrtc = nvrtc_open(&error);
    if (nvrtc == NULL || calibrate_device(device, nvrtc, &error) < 0 ||
        calibrate_load(device, nvrtc, &module, &error) < 0 ||
        device->backend->memory_new(device, "a sink", 4, &sink, &error) < 0) {
        printf("%s\n", error.text);
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ceilings_make_sense),    cmocka_unit_test(kernel_seldom_beats_itself),
        cmocka_unit_test(one_percent_is_decided), cmocka_unit_test(clear_differences_end_early),
        cmocka_unit_test(hot_calls_are_decided),
    };
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    device->backend->memory_free(device, sink);
    device->backend->module_unload(device, module);
    nvrtc_close(nvrtc);
    device_close(device);
    return failures;
}
