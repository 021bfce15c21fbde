/* gate_criteria: what is taken of each trial and of each case's kernels. A stand-in for ncu runs
   the worker on the emulated device, which is said to be a GPU, and reports what the test wrote. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <signal.h>

#include "base/memory.h"
#include "cli/gate_criteria.h"
#include "pool/fake_ncu.h"
#include "pool/worker_main.h"

static struct gate_criteria it;
static struct record_comparison comparison;
static struct replay_target target;
static struct device_info device;
static char config_path[PATH_SIZE];

/* One goal of two cases. */
static int open_kernel(void **state) {
    (void)state;
    struct error error = {0};
    char report[PATH_SIZE];
    fake_ncu_open(FAKE_NCU_TOOL);
    fake_ncu_write("run/config.json", "{ \"template\": \"axpy\", \"device\": \"emulated:sm_90\", "
                                      "\"cases\": [{ \"N\": 70 }, { \"N\": 90 }] }");
    fake_ncu_write("criteria.json", "{ \"counters\": { \"sm_active_percent\": "
                                    "{ \"at_least\": 70 } }, \"spill_bytes\": 0 }");
    setenv("FAKE_REPORT", fake_ncu_path("report.csv", report), 1);
    assert_int_equal(device_describe("emulated:sm_90", &device, &error), 0);
    device.predicts = false;
    struct config *config =
        config_load(fake_ncu_path("run/config.json", config_path), "tests/templates", &error);
    struct template *template =
        config != NULL ? config_load_template(config, 0, &device, &error) : NULL;
    if (template == NULL)
        fail_msg("%s", error.text);
    target.request = (struct trial_request){.genome = genome_default(template->space)};
    template_free(template);
    comparison.a.targets = (struct replay_targets){.config = config,
                                                   .config_path = config_path,
                                                   .template_folder = "tests/templates/axpy/loop"};
    return 0;
}

static int close_kernel(void **state) {
    (void)state;
    config_free(comparison.a.targets.config);
    return fake_ncu_close();
}

/* Starts with the trial of both cases, and what it says of memory. */
static void add_trial(enum verdict verdict, int local_bytes, int spill_bytes, bool other_code) {
    static char path[PATH_SIZE];
    struct error error = {0};
    struct case_result case_results[] = {{.ratio = 0.5}, {.ratio = 0.6}};
    const struct trial_result result = {
        .outcome = {.verdict = verdict,
                    .predicted = true,
                    .resources = {.local_bytes = local_bytes, .spill_bytes = spill_bytes}},
        .other_code = other_code,
        .case_result_count = verdict == VERDICT_OK ? 2 : 0,
        .case_results = case_results};
    if (gate_criteria_open(&it, fake_ncu_path("criteria.json", path), &error) < 0)
        fail_msg("%s", error.text);
    gate_criteria_add(&it, &comparison, &target, &result);
    assert_int_equal(it.count, 2);
}

static void cases_have_their_figures(void **state) {
    (void)state;
    add_trial(VERDICT_OK, 16, 8, false);
    assert_string_equal(it.cases[0].name, "N=70");
    assert_string_equal(it.cases[1].name, "N=90");
    for (int c = 0; c < 2; c++) {
        const struct criteria_case *one = &it.cases[c];
        assert_true(one->compared && one->predicted && one->has_resources);
        assert_true(one->result.ratio == (c == 0 ? 0.5 : 0.6));
        assert_true(one->local_bytes == 16 && one->spill_bytes == 8);
        assert_true(isnan(one->counters[PROFILE_SM_ACTIVE]));
    }
    add_trial(VERDICT_WRONG, 0, 0, false);
    assert_false(it.cases[0].compared || it.cases[1].has_resources);
}

/* What the compiler here says of its own code, it does not say of another one. */
static void spills_of_other_code_are_not_known(void **state) {
    (void)state;
    add_trial(VERDICT_OK, 16, 0, true);
    assert_int_equal(it.cases[0].spill_bytes, -1);
    add_trial(VERDICT_OK, 0, 8, true); /* it has no local memory to spill to */
    assert_int_equal(it.cases[0].spill_bytes, 0);
}

static void count_with(const char *report) {
    struct error error = {0};
    add_trial(VERDICT_OK, 0, 0, false);
    fake_ncu_write("report.csv", report);
    if (gate_criteria_count(&it, &comparison.a.targets, &device, &error) < 0)
        fail_msg("%s", error.text);
}

static void each_case_has_its_counters(void **state) {
    (void)state;
    count_with(FAKE_NCU_HEAD FAKE_NCU_KERNEL("0", "axpy", "1", "100", "80")
                   FAKE_NCU_KERNEL("1", "axpy", "1", "100", "90"));
    assert_true(it.cases[0].counters[PROFILE_SM_ACTIVE] == 80);
    assert_true(it.cases[1].counters[PROFILE_SM_ACTIVE] == 90);
    assert_true(gate_criteria_judge(&it));
    count_with(FAKE_NCU_HEAD FAKE_NCU_KERNEL("0", "axpy", "1", "100", "80")
                   FAKE_NCU_KERNEL("1", "axpy", "1", "100", "69.9"));
    assert_false(gate_criteria_judge(&it));
    cJSON *object = gate_criteria_json(&it);
    assert_true(cJSON_IsFalse(cJSON_GetObjectItem(object, "passed")));
    const cJSON *row = cJSON_GetArrayItem(cJSON_GetObjectItem(object, "conditions"), 0);
    assert_true(cJSON_GetObjectItem(row, "measured")->valuedouble == 69.9);
    assert_string_equal(cJSON_GetObjectItem(row, "where")->valuestring, "N=90");
    cJSON_Delete(object);
    count_with(FAKE_NCU_HEAD FAKE_NCU_KERNEL("0", "axpy", "1", "100",
                                             "80")); /* of the second nothing is known */
    assert_false(gate_criteria_judge(&it));
    assert_true(isnan(it.cases[1].counters[PROFILE_SM_ACTIVE]));
}

static void refused_counters_are_not_met(void **state) {
    (void)state;
    struct error error = {0};
    char *refused = path_read_file("tests/pool/ncu/refused.csv", 1 << 16, NULL, &error);
    assert_non_null(refused);
    count_with(refused);
    free(refused);
    assert_false(gate_criteria_judge(&it));
    assert_non_null(strstr(it.rows[0].text, "run as root"));
    assert_true(it.rows[1].passed);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cases_have_their_figures),
        cmocka_unit_test(spills_of_other_code_are_not_known),
        cmocka_unit_test(each_case_has_its_counters),
        cmocka_unit_test(refused_counters_are_not_met),
    };
    if (argc > 1 && strcmp(argv[1], POOL_WORKER) == 0) /* a worker is the calling program */
        return execv(getenv("EVOTILE"), argv);
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, open_kernel, close_kernel);
}
