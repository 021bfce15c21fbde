/* bottleneck: findings for given figures. */
#include "analysis/bottleneck.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct device_info device = {.sm_count = 132,
                                          .smem_per_sm = 233472,
                                          .registers_per_sm = 65536,
                                          .threads_per_sm = 2048,
                                          .blocks_per_sm = 32,
                                          .launch_us = 0.65,
                                          .tensor_tflops = 600};

/* Figures of a kernel without a bottleneck. */
static struct case_outcome timed;
static struct resources resources;
static struct bottleneck_case known;

static int reset_figures(void **state) {
    (void)state;
    timed = (struct case_outcome){
        .ctas = 1056, .warm.p50_us = 100, .tflops = 400, .gb_per_s = 10, .ceiling = 0.66};
    resources = (struct resources){
        .registers = 128, .smem_bytes = 40960, .ctas_per_sm = 4, .occupancy = 0.25};
    known = (struct bottleneck_case){.device = &device,
                                     .resources = &resources,
                                     .threads = 128,
                                     .timed = &timed,
                                     .operations = 40000000000,
                                     .bytes = 1000000};
    return 0;
}

static const struct bottleneck_finding *find_finding(const struct bottleneck_report *report,
                                                     const char *name) {
    for (int f = 0; f < report->count; f++)
        if (strcmp(report->findings[f].name, name) == 0)
            return &report->findings[f];
    return NULL;
}

static void no_bottleneck_has_one_finding(void **state) {
    (void)state;
    struct bottleneck_report report = {0};
    bottleneck_from_trial(&known, &report);
    assert_int_equal(report.count, 1);
    assert_string_equal(report.findings[0].name, "share_of_ceiling");
}

static void blocks_and_waves(void **state) {
    (void)state;
    static const struct {
        int ctas;
        const char *name, *part; /* NULL: nothing to say */
    } rows[] = {
        {12, "multiprocessors_busy", "12 of 132 multiprocessors busy"},
        {131, "multiprocessors_busy", "131 of 132"},
        {132, "waves", "0.25 waves"},
        {528, NULL, NULL},
        {540, "waves", "1.02 waves of blocks: the last fills 2 % of the block slots"},
        {1056, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bottleneck_report report = {0};
        timed.ctas = rows[i].ctas;
        bottleneck_from_trial(&known, &report);
        if (rows[i].name == NULL) {
            assert_null(find_finding(&report, "waves"));
            assert_null(find_finding(&report, "multiprocessors_busy"));
        } else {
            assert_non_null(find_finding(&report, rows[i].name));
            assert_non_null(strstr(find_finding(&report, rows[i].name)->text, rows[i].part));
        }
    }
}

static void what_limits_the_warps(void **state) {
    (void)state;
    static const struct {
        int registers, smem_bytes, threads;
        const char *limit;
    } rows[] = {
        {255, 1024, 128, "limited by registers"},
        {32, 100000, 128, "limited by shared memory"},
        {16, 1024, 1024, "limited by threads"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bottleneck_report report = {0};
        resources.registers = rows[i].registers;
        resources.smem_bytes = rows[i].smem_bytes;
        known.threads = rows[i].threads;
        resources.occupancy = 0.1;
        bottleneck_from_trial(&known, &report);
        const struct bottleneck_finding *finding = find_finding(&report, "occupancy");
        assert_non_null(finding);
        assert_true(finding->value == 0.1);
        assert_non_null(strstr(finding->text, rows[i].limit));
    }
}

static void spills_and_small_launches(void **state) {
    (void)state;
    struct bottleneck_report report = {0};
    resources.spill_bytes = 24;
    timed.warm.p50_us = 2;
    bottleneck_from_trial(&known, &report);
    assert_true(find_finding(&report, "spill_bytes")->value == 24);
    assert_non_null(strstr(find_finding(&report, "launch_us")->text, "0.65 us of 2.00"));
}

static struct profiled_kernel kernel_like(const char *name, double duration_ns, double sm,
                                          double memory, double dram) {
    struct profiled_kernel kernel = {0};
    snprintf(kernel.name, sizeof kernel.name, "%s", name);
    for (int m = 0; m < PROFILE_METRIC_COUNT; m++)
        kernel.values[m] = NAN;
    kernel.values[PROFILE_DURATION] = duration_ns;
    kernel.values[PROFILE_SM] = sm;
    kernel.values[PROFILE_MEMORY] = memory;
    kernel.values[PROFILE_DRAM] = dram;
    return kernel;
}

static void throughput_limits_are_named(void **state) {
    (void)state;
    static const struct {
        double sm, memory, dram;
        const char *part;
    } rows[] = {
        {20, 90, 85, "DRAM is at 85 %"},
        {20, 90, 10, "caches or shared memory limit it"},
        {80, 40, 10, "compute units are at 80 %"},
        {30, 20, 5, "latency limits it"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bottleneck_report report = {0};
        struct profiled_kernel kernel =
            kernel_like("main", 1000, rows[i].sm, rows[i].memory, rows[i].dram);
        bottleneck_from_profile(&known, &kernel, 1, &report);
        assert_int_equal(report.count, 1);
        assert_non_null(strstr(report.findings[0].text, rows[i].part));
    }
}

static void counters_of_the_longest_kernel(void **state) {
    (void)state;
    struct bottleneck_report report = {0};
    struct profiled_kernel kernels[2] = {kernel_like("finish", 2000, 30, 20, 5),
                                         kernel_like("main", 8000, 30, 20, 5)};
    kernels[1].values[PROFILE_BANK_CONFLICTS] = 30;
    kernels[1].values[PROFILE_WAVEFRONTS] = 100;
    kernels[1].values[PROFILE_TENSOR_PIPE] = 35;
    kernels[1].values[PROFILE_WARPS] = 10;
    kernels[1].values[PROFILE_SM_ACTIVE] = 50;
    kernels[1].values[PROFILE_L2_SECTORS] = 1e6;
    kernels[1].values[PROFILE_L2_HITS] = 99;
    bottleneck_from_profile(&known, kernels, 2, &report);
    assert_true(fabs(find_finding(&report, "bank_conflict_share")->value - 0.3) < 1e-12);
    assert_non_null(strstr(find_finding(&report, "tensor_pipe_percent")->text, "main: "));
    assert_non_null(find_finding(&report, "warps_percent"));
    assert_non_null(find_finding(&report, "sm_active_percent"));
    assert_true(find_finding(&report, "l2_excess")->value == 32);
    assert_non_null(strstr(find_finding(&report, "other_kernel_share")->text, "finish takes 20 %"));
    report.count = 0;
    bottleneck_from_profile(&known, NULL, 0, &report);
    assert_int_equal(report.count, 0);
}

static void advice_is_the_templates_own(void **state) {
    (void)state;
    struct error error = {0};
    const int64_t values[] = {1, 2, 4};
    const char *const labels[] = {"none", "xor"};
    char text[ADVICE_SIZE];
    struct space *space = space_new();
    space_add_integers(space, "SPLITS", "", values, 3, 0, NULL, &error);
    space_add_labels(space, "SWIZZLE", "", labels, 2, 0, NULL, &error);
    int hint = space_add_hint(space, "SPLITS < 2", "blocks are few", &error);
    assert_int_equal(hint, 0);
    assert_int_equal(space_add_preference(space, hint, "SPLITS", "higher", &error), 0);
    assert_int_equal(space_add_preference(space, hint, "SWIZZLE", "xor", &error), 0);
    bottleneck_advice(space, hint, text);
    assert_string_equal(text, "raise SPLITS or set SWIZZLE to xor: blocks are few");
    space_free(space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(no_bottleneck_has_one_finding, reset_figures),
        cmocka_unit_test_setup(blocks_and_waves, reset_figures),
        cmocka_unit_test_setup(what_limits_the_warps, reset_figures),
        cmocka_unit_test_setup(spills_and_small_launches, reset_figures),
        cmocka_unit_test_setup(throughput_limits_are_named, reset_figures),
        cmocka_unit_test_setup(counters_of_the_longest_kernel, reset_figures),
        cmocka_unit_test_setup(advice_is_the_templates_own, reset_figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
