/* task_features: what a model over tasks knows of a softmax of so many rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "config/change.h"
#include "device/device.h"
#include "session/task_features.h"

#include <math.h>

/* Of a softmax with that many rows. */
static struct task describe(int rows, const struct device_info *device) {
    struct error error = {0};
    struct task task;
    cJSON *changes = cJSON_CreateObject(), *shape = cJSON_CreateObject();
    struct config *config = config_load("configs/predictions_softmax.json", "templates", &error);
    assert_non_null(config);
    cJSON_AddNumberToObject(shape, "ROWS", rows);
    cJSON_AddNumberToObject(shape, "COLS", 4096);
    cJSON_AddItemToArray(cJSON_AddArrayToObject(changes, "cases"), shape);
    config = config_change(config, changes, &error);
    if (config == NULL)
        fail_msg("%s", error.text);
    struct template *template = config_load_template(config, 0, device, &error);
    assert_non_null(template);
    task_describe(&task, config->template_folder, template, config, 0, device);
    template_free(template);
    config_free(config);
    cJSON_Delete(changes);
    return task;
}

static void blocks_and_work_grow_with_the_rows(void **state) {
    (void)state;
    struct error error = {0};
    struct device_info device;
    assert_int_equal(device_describe("emulated:sm_90", &device, &error), 0);
    const struct task few = describe(2048, &device), many = describe(8192, &device);
    assert_float_equal(many.features[2] - few.features[2], 2, 1e-9); /* four times the blocks */
    assert_true(many.scale_us > 3 * few.scale_us);
    for (int f = 0; f < TASK_FEATURES_MAX; f++)
        assert_true(isfinite(many.features[f]));
    device.sm_count = device.sm_count * 2 + 1;
    const struct task wider = describe(2048, &device);
    assert_float_equal(few.features[2] - wider.features[2], 1, 1e-9); /* by multiprocessor */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(blocks_and_work_grow_with_the_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
