/* profile_candidate: whose kernels are whose case's, and why there are no counters. A stand-in for
   ncu runs the worker on the emulated device and reports what the test wrote. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <signal.h>

#include "base/memory.h"
#include "config/config.h"
#include "pool/fake_ncu.h"
#include "pool/profile_candidate.h"

#define SOLUTION "tests/templates/axpy/loop"
static struct profile *profile;
static struct device_info device;
static struct config *config;
static struct template *template;
static char config_path[PATH_SIZE], missing[PROFILE_MISSING_SIZE];

static int open_candidate(void **state) {
    (void)state;
    struct error error = {0};
    char report[PATH_SIZE];
    fake_ncu_open(FAKE_NCU_TOOL);
    fake_ncu_write("run/config.json", "{ \"template\": \"axpy\", \"device\": \"emulated:sm_90\", "
                                      "\"cases\": [{ \"N\": 70 }, { \"N\": 90 }] }");
    setenv("FAKE_REPORT", fake_ncu_path("report.csv", report), 1);
    assert_int_equal(device_describe("emulated:sm_90", &device, &error), 0);
    config = config_load(fake_ncu_path("run/config.json", config_path), "tests/templates", &error);
    template = config != NULL ? config_load_template(config, 0, &device, &error) : NULL;
    if (template == NULL)
        fail_msg("%s", error.text);
    profile = xcalloc(1, sizeof *profile);
    return 0;
}

static int close_candidate(void **state) {
    (void)state;
    free(profile);
    template_free(template);
    config_free(config);
    return fake_ncu_close();
}

/* Profiles the default genome; returns the number of kernels of each of the two cases. */
static void count_kernels(const char *report, int counts[2]) {
    struct error error = {0};
    struct trial_request request = {.number = 1, .genome = genome_default(template->space)};
    const struct profile_candidate settings = {.program = getenv("EVOTILE"),
                                               .config_path = config_path,
                                               .template_folder = SOLUTION,
                                               .device = &device,
                                               .template = template};
    int next = 0;
    fake_ncu_write("report.csv", report);
    if (profile_candidate_run(&settings, &request, profile, missing, &error) < 0)
        fail_msg("%s", error.text);
    for (int c = 0; c < 2; c++) {
        struct launch_plan plan;
        assert_int_equal(template_launch_plan(template, &request.genome, c, &plan, &error), 0);
        counts[c] = profile_case_kernels(profile, &plan, &next);
    }
}

static void each_case_has_its_kernels(void **state) {
    (void)state;
    int counts[2];
    count_kernels(FAKE_NCU_HEAD FAKE_NCU_KERNEL("0", "axpy", "1", "100", "40")
                      FAKE_NCU_KERNEL("1", "axpy", "1", "300", "80"),
                  counts);
    assert_string_equal(missing, "");
    assert_true(counts[0] == 1 && counts[1] == 1);
    const struct profiled_kernel *kernels = profile->kernels;
    assert_true(profile_combined_metric(&kernels[1], 1, PROFILE_SM_ACTIVE) == 80);
    /* by durations: 40 for 100 ns, 80 for 300 */
    assert_true(profile_combined_metric(kernels, 2, PROFILE_SM_ACTIVE) == 70);
    assert_true(profile_combined_metric(kernels, 2, PROFILE_DURATION) == 400);
    assert_true(isnan(profile_combined_metric(kernels, 2, PROFILE_DRAM_BYTES)));
    assert_true(isnan(profile_combined_metric(kernels, 0, PROFILE_SM_ACTIVE)));
}

/* What a case's figures are of is never guessed. */
static void other_kernels_count_for_no_case(void **state) {
    (void)state;
    int counts[2];
    count_kernels(FAKE_NCU_HEAD FAKE_NCU_KERNEL("0", "axpy", "1", "100", "99"), counts);
    assert_true(counts[0] == 1 && counts[1] == 0);
    count_kernels(FAKE_NCU_HEAD FAKE_NCU_KERNEL("0", "axpy", "2", "100", "99")
                      FAKE_NCU_KERNEL("1", "axpy", "1", "1", "99"),
                  counts);
    assert_true(counts[0] == 0 && counts[1] == 0);
    count_kernels(FAKE_NCU_HEAD FAKE_NCU_KERNEL("0", "other", "1", "100", "99")
                      FAKE_NCU_KERNEL("1", "axpy", "1", "1", "99"),
                  counts);
    assert_true(counts[0] == 0 && counts[1] == 0);
}

static void missing_counters_have_a_remedy(void **state) {
    (void)state;
    int counts[2];
    struct error error = {0};
    char *refused = path_read_file("tests/pool/ncu/refused.csv", 1 << 16, NULL, &error);
    assert_non_null(refused);
    count_kernels(refused, counts);
    free(refused);
    assert_non_null(strstr(missing, "does not have permission"));
    assert_non_null(strstr(missing, "NVreg_RestrictProfilingToAdminUsers=0"));

    char *path = xstrdup(getenv("PATH"));
    setenv("PATH", "/nowhere", 1);
    setenv("CUDA_HOME", "/nowhere", 1);
    count_kernels("", counts);
    setenv("PATH", path, 1);
    free(path);
    if (strstr(missing, "ncu is not installed") == NULL || strstr(missing, "install it") == NULL)
        fail_msg("%s", missing);

    assert_false(profile_device_is_real(&device, missing));
    assert_non_null(strstr(missing, "use --device cuda:0"));
    struct device_info real = device;
    real.predicts = false;
    assert_true(profile_device_is_real(&real, missing));
    assert_string_equal(missing, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_case_has_its_kernels),
        cmocka_unit_test(other_kernels_count_for_no_case),
        cmocka_unit_test(missing_counters_have_a_remedy),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, open_candidate, close_candidate);
}
