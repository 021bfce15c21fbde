/* profile: parsing ncu's reports. Those in tests/pool/ncu have the documented form of `ncu
   --csv`, with invented figures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "outcome/measure_names.h"
#include "pool/profile.h"

static struct profile *profile;

static int open_profile(void **state) {
    (void)state;
    profile = xcalloc(1, sizeof *profile);
    return 0;
}

static int close_profile(void **state) {
    (void)state;
    free(profile);
    return 0;
}

static char *read_recorded_report(const char *name) {
    struct error error = {0};
    char path[PATH_SIZE];
    assert_int_equal(path_join(path, "tests/pool/ncu", name, &error), 0);
    char *text = path_read_file(path, 1 << 20, NULL, &error);
    if (text == NULL)
        fail_msg("%s", error.text);
    return text;
}

static void kernels_are_read_in_order(void **state) {
    (void)state;
    char *text = read_recorded_report("in_its_form.csv");
    profile_read(text, profile);
    free(text);
    assert_string_equal(profile->problem, "");
    assert_int_equal(profile->count, 2);
    const struct profiled_kernel *one = &profile->kernels[0];
    assert_string_equal(one->name, "rows_main");
    assert_string_equal(one->grid, "(64, 1, 1)");
    assert_string_equal(one->block, "(128, 1, 1)");
    assert_true(one->values[PROFILE_DURATION] == 6048);
    assert_true(one->values[PROFILE_DRAM_BYTES] == 1052672 + 4096);
    assert_true(one->values[PROFILE_BANK_CONFLICTS] == 2048);
    assert_true(one->values[PROFILE_L2_SECTORS] == 131072);
    assert_true(one->values[PROFILE_WARPS] == 11.9);
    /* Of three names the first with a number counts, in our order, not in the rows' order. */
    assert_true(one->values[PROFILE_TENSOR_PIPE] == 28.5);
    const struct profiled_kernel *other = &profile->kernels[1];
    assert_string_equal(other->name, "rows_finish");
    assert_true(other->values[PROFILE_DURATION] == 2016);
    assert_true(other->values[PROFILE_DRAM_BYTES] == 0);
    assert_true(isnan(other->values[PROFILE_TENSOR_PIPE]));
    /* As JSON: what ncu does not report is null, and not 0. */
    cJSON *list = profile_kernels_json(profile->kernels, profile->count);
    const cJSON *first = cJSON_GetArrayItem(list, 0), *second = cJSON_GetArrayItem(list, 1);
    const char *pipe = profile_metric_name(PROFILE_TENSOR_PIPE);
    assert_string_equal(cJSON_GetObjectItem(first, "kernel")->valuestring, "rows_main");
    assert_true(cJSON_GetObjectItem(first, pipe)->valuedouble == 28.5);
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(second, pipe)));
    cJSON_Delete(list);
}

/* ncu's report on an H200 (CUDA 13.0) of an attention champion at (2,16,2048,64). */
static void real_report_is_read(void **state) {
    (void)state;
    char *text = read_recorded_report("h200.csv");
    profile_read(text, profile);
    free(text);
    assert_string_equal(profile->problem, "");
    assert_int_equal(profile->count, 1);
    const struct profiled_kernel *one = &profile->kernels[0];
    assert_string_equal(one->grid, "(32, 8, 1)");
    assert_string_equal(one->block, "(640, 1, 1)");
    assert_true(one->values[PROFILE_DURATION] == 72800);
    assert_true(one->values[PROFILE_DRAM_BYTES] == 20989696 + 6272256);
    assert_true(one->values[PROFILE_BANK_CONFLICTS] == 1325);
    assert_true(one->values[PROFILE_L2_SECTORS] == 5734610);
    assert_true(one->values[PROFILE_TENSOR_PIPE] > 50 && one->values[PROFILE_TENSOR_PIPE] < 52);
    for (int i = 0; i < PROFILE_METRIC_COUNT; i++)
        assert_false(isnan(one->values[i]));
}

static int64_t measured(const struct measures *measures, enum measure measure) {
    assert_true(measures->known >> measure & 1);
    return measures->values[measure];
}

/* Counts are summed over both kernels, percentages weighted by their durations; a metric that
   one of them lacks is unknown. */
static void metrics_combine_all_kernels(void **state) {
    (void)state;
    struct measures measures = {0};
    char *text = read_recorded_report("in_its_form.csv");
    profile_read(text, profile);
    free(text);
    profile_set_measures(profile->kernels, 0, &measures);
    assert_int_equal(measures.known, 0);
    profile_set_measures(profile->kernels, 2, &measures);
    /* 35 % for 6048 ns and 5.5 % for 2016 */
    assert_int_equal(measured(&measures, MEASURE_SM), 28);
    assert_int_equal(measured(&measures, MEASURE_DRAM_BYTES), 1052672 + 4096);
    assert_int_equal(measures.known, 1u << MEASURE_SM | 1u << MEASURE_DRAM_BYTES);
    profile->kernels[1] = profile->kernels[0];
    profile->kernels[1].values[PROFILE_DURATION] *= 3;
    profile->kernels[1].values[PROFILE_WARPS] = 23.9;
    profile_set_measures(profile->kernels, 2, &measures);
    for (int m = MEASURE_PROFILED; m < MEASURE_COUNT; m++)
        assert_true(measures.known >> m & 1);
    assert_int_equal(measured(&measures, MEASURE_SM), 35);
    assert_int_equal(measured(&measures, MEASURE_SM_ACTIVE), 72);
    assert_int_equal(measured(&measures, MEASURE_WARPS), 21);
    assert_int_equal(measured(&measures, MEASURE_BANK_CONFLICTS), 2 * 2048);
    assert_int_equal(measured(&measures, MEASURE_WAVEFRONTS), 2 * 20480);
    assert_int_equal(measured(&measures, MEASURE_L2_HITS), 97);
    /* Without a duration there is no mean; no count may exceed what a double holds exactly. */
    measures = (struct measures){0};
    profile->kernels[0].values[PROFILE_DURATION] = NAN;
    profile->kernels[0].values[PROFILE_L2_SECTORS] = 1e16;
    profile_set_measures(profile->kernels, 2, &measures);
    assert_int_equal(measures.known, 1u << MEASURE_DRAM_BYTES | 1u << MEASURE_BANK_CONFLICTS |
                                         1u << MEASURE_WAVEFRONTS);
}

static void problem_is_reported(void **state) {
    (void)state;
    char *text = read_recorded_report("refused.csv");
    profile_read(text, profile);
    free(text);
    assert_int_equal(profile->count, 0);
    assert_non_null(strstr(profile->problem, "does not have permission"));
    *profile = (struct profile){0};
    profile_read("", profile);
    assert_string_equal(profile->problem, "its report names no kernel");
}

#define HEAD                                                                                       \
    "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Metric Name\",\"Metric Unit\","         \
    "\"Metric Value\"\n"

static void number_formats_are_read(void **state) {
    (void)state;
    static const struct {
        const char *unit, *value;
        double ns; /* NAN: no value */
    } rows[] = {
        {"ns", "1,234,567.5", 1234567.5},
        {"nsecond", "12", 12},
        {"usecond", "1.5", 1500},
        {"second", "4.0e-05", 40000},
        {"ns", "n/a", NAN},
        {"ns", "", NAN},
        {"ns", "inf", NAN},
        {"ns", "12x", NAN},
        {"ms", "2", 2e6},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char report[512];
        snprintf(
            report, sizeof report,
            "what a program prints, before\n" HEAD
            "\"0\",\"k\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"gpu__time_duration.sum\",\"%s\",\"%s\"\r\n",
            rows[i].unit, rows[i].value);
        *profile = (struct profile){0};
        profile_read(report, profile);
        assert_int_equal(profile->count, 1);
        double ns = profile->kernels[0].values[PROFILE_DURATION];
        if (isnan(rows[i].ns))
            assert_true(isnan(ns));
        else
            assert_true(fabs(ns / rows[i].ns - 1) < 1e-12);
    }
}

static void truncated_report_is_read_to_its_end(void **state) {
    (void)state;
    char *text = read_recorded_report("in_its_form.csv");
    int before = 0;
    for (size_t length = 0; length <= strlen(text); length += 7) {
        char *part = strndup(text, length);
        *profile = (struct profile){0};
        profile_read(part, profile);
        assert_true(profile->count >= before && profile->count <= 2);
        assert_true(profile->count > 0 || profile->problem[0] != '\0');
        before = profile->count;
        free(part);
    }
    assert_int_equal(before, 2);
    free(text);
}

static void excess_kernels_are_ignored(void **state) {
    (void)state;
    char *report = calloc(1, 300 * 128);
    strcpy(report, HEAD);
    for (int k = 0; k < 300; k++)
        sprintf(
            report + strlen(report),
            "\"%d\",\"k\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"gpu__time_duration.sum\",\"ns\",\"%d\"\n",
            k, k + 1);
    profile_read(report, profile);
    assert_int_equal(profile->count, PROFILED_MAX);
    assert_true(profile->kernels[PROFILED_MAX - 1].values[PROFILE_DURATION] == PROFILED_MAX);
    free(report);
}

/* Runs a script in place of ncu with a worker that sends nothing; returns the arguments that the
   script stored in "$0.called". */
static char *run_under(const char *script) {
    struct error error = {0};
    char folder[] = "/tmp/evotile-profile-test-XXXXXX";
    char tool[PATH_SIZE];
    char called[PATH_SIZE + 8];
    assert_non_null(mkdtemp(folder));
    assert_int_equal(path_join(tool, folder, "ncu", &error), 0);
    assert_int_equal(path_write_file(tool, script, strlen(script), &error), 0);
    assert_int_equal(chmod(tool, 0755), 0);
    const char *const kernels[] = {"rows_main", "rows_finish"};
    const struct profile_settings how = {.run = {.tool = tool,
                                                 .program = "evotile",
                                                 .config_path = "config.json",
                                                 .template_folder = "template",
                                                 .device = "cuda:0",
                                                 .limit_s = 20},
                                         .kernels = kernels,
                                         .kernel_count = 2};
    const struct trial_request request = {.number = 1};
    if (profile_run(&how, &request, profile, &error) < 0)
        fail_msg("%s", error.text);
    assert_int_equal(profile->count, 2);
    assert_string_equal(profile->problem, "");
    snprintf(called, sizeof called, "%s.called", tool);
    char *noted = path_read_file(called, 1 << 16, NULL, &error);
    assert_non_null(noted);
    path_remove_tree(folder, &error);
    return noted;
}

static void ncu_arguments_are_right(void **state) {
    (void)state;
    char *words = run_under("#!/bin/sh\n"
                            "echo \"$@\" > \"$0.called\"\n"
                            "while [ \"$1\" != --log-file ]; do shift; done\n"
                            "cp tests/pool/ncu/in_its_form.csv \"$2\"\n");
    assert_non_null(strstr(words, "--csv --print-units base --cache-control none"));
    assert_non_null(strstr(words, "--kernel-name regex:^(rows_main|rows_finish)$"));
    assert_non_null(strstr(words, "evotile pool-worker device"));
    free(words);
}

/* An ncu that lacks two metrics and reports one at a time. */
static void unknown_metrics_are_dropped(void **state) {
    (void)state;
    char *noted = run_under("#!/bin/sh\n"
                            "echo >> \"$0.called\"\n"
                            "all=\"$*\"\n"
                            "while [ \"$1\" != --log-file ]; do shift; done\n"
                            "for metric in sm__pipe_tensor_cycles_active lts__t_sectors; do\n"
                            "    case $all in *$metric.*)\n"
                            "        echo \"==ERROR== Failed to find metric "
                            "regex:^$metric\\\\.(sum|avg)\\$\" > \"$2\"\n"
                            "        exit 1;;\n"
                            "    esac\n"
                            "done\n"
                            "cp tests/pool/ncu/in_its_form.csv \"$2\"\n");
    assert_string_equal(noted, "\n\n\n");
    free(noted);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(kernels_are_read_in_order, open_profile, close_profile),
        cmocka_unit_test_setup_teardown(real_report_is_read, open_profile, close_profile),
        cmocka_unit_test_setup_teardown(metrics_combine_all_kernels, open_profile, close_profile),
        cmocka_unit_test_setup_teardown(problem_is_reported, open_profile, close_profile),
        cmocka_unit_test_setup_teardown(number_formats_are_read, open_profile, close_profile),
        cmocka_unit_test_setup_teardown(truncated_report_is_read_to_its_end, open_profile,
                                        close_profile),
        cmocka_unit_test_setup_teardown(excess_kernels_are_ignored, open_profile, close_profile),
        cmocka_unit_test_setup_teardown(ncu_arguments_are_right, open_profile, close_profile),
        cmocka_unit_test_setup_teardown(unknown_metrics_are_dropped, open_profile, close_profile),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
