/* The limit of workspaces: a quarter of the device's memory for all sets of inputs. */
#include "evaluate/tiny.h"

#include "base/memory.h"
#include "device/device.h"
#include "evaluate/evaluator.h"
#include "pool/settings.h"

enum { WORKSPACE_BYTES = 4000, SETS = 3 };

static const char config_text[] =
    "{ \"template\": \"axpy\", \"device\": \"" TINY_DEVICE "\", \"cases\": [{\"N\": 1000}],\n"
    "  \"timing\": { \"input_sets\": 3 } }";

static struct stage {
    struct device *device;
    struct config *config;
    struct evaluation_settings settings;
    struct compiler *compiler;
    struct evaluator *evaluator;
} stage;

static int open_stage(void **state) {
    struct error error = {0};
    (void)state;
    setenv("EVOTILE_DEVICES", "configs/devices", 0);
    stage.device = device_open(TINY_DEVICE, &error);
    stage.config =
        config_from_text("config.json", config_text, "tests/templates/axpy/vector", &error);
    if (stage.device == NULL || stage.config == NULL)
        fail_msg("%s", error.text);
    evaluation_settings_from_config(&stage.settings, stage.config);
    stage.compiler = compiler_new(&stage.settings, &stage.device->info, NULL, &error);
    stage.evaluator = stage.compiler != NULL
                          ? evaluator_new(&stage.settings, stage.device, stage.compiler, &error)
                          : NULL;
    if (stage.evaluator == NULL)
        fail_msg("%s", error.text);
    return 0;
}

static int close_stage(void **state) {
    (void)state;
    evaluator_free(stage.evaluator);
    compiler_free(stage.compiler);
    evaluation_settings_release(&stage.settings);
    config_free(stage.config);
    device_close(stage.device);
    return 0;
}

/* Runs the gates before verification on a device of so much memory. */
static enum verdict judge(const char *genome, int64_t memory_bytes, char reason[REASON_SIZE]) {
    struct error error = {0};
    struct device_image images[CASES_MAX] = {0};
    struct trial_request request = {.level = LEVEL_STATIC};
    struct trial_result *result = xcalloc(1, sizeof *result);
    const struct template *template = compiler_template(stage.compiler, 0, &error);
    const int64_t memory_before = stage.device->info.memory_bytes;
    assert_non_null(template);
    assert_int_equal(genome_parse(&request.genome, template->space, genome, &error), 0);
    trial_result_init(result, &request);
    assert_int_equal(compiler_build(stage.compiler, &request, images, result, &error), 0);
    stage.device->info.memory_bytes = memory_bytes;
    assert_in_range(evaluator_run(stage.evaluator, &request, images, result, &error), 0, 1);
    stage.device->info.memory_bytes = memory_before;
    const enum verdict verdict = result->outcome.verdict;
    snprintf(reason, REASON_SIZE, "%s", result->outcome.reason);
    for (int c = 0; c < CASES_MAX; c++)
        nvrtc_image_release(&images[c]);
    trial_result_release(result);
    free(result);
    return verdict;
}

static void workspaces_have_a_quarter_of_the_memory(void **state) {
    char reason[REASON_SIZE];
    (void)state;
    assert_int_equal(judge("STAGED=1", 4 * WORKSPACE_BYTES, reason), VERDICT_OK);
    assert_int_equal(judge("STAGED=1", 4 * WORKSPACE_BYTES - 4, reason), VERDICT_OVER_LIMIT);
    assert_non_null(strstr(reason, "N=1000: its workspaces have"));
    assert_int_equal(judge("STAGED=0", 4, reason), VERDICT_OK);
}

/* A GPU times all sets in turns; each has workspaces of its own. */
static void each_set_has_its_own(void **state) {
    char reason[REASON_SIZE];
    (void)state;
    stage.device->info.predicts = false;
    assert_int_equal(judge("STAGED=1", 4 * SETS * WORKSPACE_BYTES, reason), VERDICT_OK);
    assert_int_equal(judge("STAGED=1", 4 * SETS * WORKSPACE_BYTES - 4, reason), VERDICT_OVER_LIMIT);
    assert_non_null(strstr(reason, "for each of 3 sets of inputs"));
    stage.device->info.predicts = true;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(workspaces_have_a_quarter_of_the_memory),
                                       cmocka_unit_test(each_set_has_its_own)};
    return cmocka_run_group_tests(tests, open_stage, close_stage);
}
