#include "config/change.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static struct config *read_example(void) {
    struct error error = {0};
    struct config *config = config_from_text("c.json",
                                             "{ \"template\": \"softmax_rows\", // kept\n"
                                             "  \"cases\": [{\"ROWS\": 8, \"COLS\": 40}], "
                                             "\"budget\": {\"time\": \"2h\", \"trials\": 5} }",
                                             "templates/softmax_rows", &error);
    if (config == NULL)
        fail_msg("%s", error.text);
    return config;
}

static void keys_are_set_replaced_and_removed(void **state) {
    (void)state;
    struct error error = {0};
    cJSON *changes = cJSON_CreateObject();
    config_change_integer(changes, "seed", (1LL << 53) + 1);
    config_change_duration(changes, "budget.time", 5400);
    cJSON_AddNullToObject(changes, "budget.trials");
    cJSON_AddNullToObject(changes, "timing.launches"); /* it has no such section */
    cJSON_AddTrueToObject(changes, "search.nice");
    struct config *config = config_change(read_example(), changes, &error);
    assert_non_null(config);
    assert_int_equal(config->seed, (1LL << 53) + 1);
    assert_true(config->seconds == 5400 && config->nice);
    assert_int_equal(config->trials, 0);
    assert_string_equal(config->path, "c.json");
    cJSON *text = cJSON_Parse(config->text);
    char *line = cJSON_PrintUnformatted(text);
    assert_string_equal(line, "{\"template\":\"softmax_rows\",\"cases\":[{\"ROWS\":8,\"COLS\":40}],"
                              "\"budget\":{\"time\":\"5400s\"},\"seed\":\"9007199254740993\","
                              "\"search\":{\"nice\":true}}");
    free(line);
    cJSON_Delete(text);
    config_free(config);
    cJSON_Delete(changes);
}

static void without_changes_the_text_stays(void **state) {
    (void)state;
    struct error error = {0};
    cJSON *changes = cJSON_CreateObject();
    struct config *config = read_example();
    assert_ptr_equal(config_change(config, changes, &error), config);
    assert_non_null(strstr(config->text, "// kept"));
    config_free(config);
    cJSON_Delete(changes);
}

static void a_changed_value_is_checked(void **state) {
    (void)state;
    struct error error = {0};
    cJSON *changes = cJSON_CreateObject();
    config_change_integer(changes, "search.max_temperature_c", TEMPERATURE_MAX_C + 1);
    assert_null(config_change(read_example(), changes, &error));
    assert_non_null(strstr(error.text, "search.max_temperature_c"));
    cJSON_Delete(changes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_set_replaced_and_removed),
        cmocka_unit_test(without_changes_the_text_stays),
        cmocka_unit_test(a_changed_value_is_checked),
    };
    return cmocka_run_group_tests_name("change", tests, NULL, NULL);
}
