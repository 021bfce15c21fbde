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
    assert_string_equal(config->text,
                        "{ \"template\": \"softmax_rows\",        \n"
                        "  \"cases\": [{\"ROWS\": 8, \"COLS\": 40}], "
                        "\"budget\": {\"time\": \"5400s\"  }, \"seed\": \"9007199254740993\", "
                        "\"search\": {\"nice\": true} }");
    config_free(config);
    cJSON_Delete(changes);
}

/* Changes one key of a config's text; the test frees the changed text. */
static char *change_one(const char *text, const char *key, const char *value) {
    struct error error = {0};
    cJSON *changes = cJSON_CreateObject();
    struct config *config = config_from_text("c.json", text, "templates/softmax_rows", &error);
    cJSON_AddItemToObject(changes, key, cJSON_Parse(value));
    config = config_change(config, changes, &error);
    cJSON_Delete(changes);
    if (config == NULL)
        fail_msg("%s: %s", key, error.text);
    char *changed = strdup(config->text);
    config_free(config);
    return changed;
}

static void every_key_stays_on_its_line(void **state) {
    (void)state;
#define HEAD "{\n\"template\": \"softmax_rows\",\n\"cases\": [{\"ROWS\": 8, \"COLS\": 40}]"
    static const struct {
        const char *text, *key, *value, *changed;
    } rows[] = {
        /* an inserted key: beside a comment, into an empty section, into a section that is missing
         */
        {HEAD ", \"budget\": {\n\"trials\": 5 // few,\n}}", "budget.patience", "7",
         HEAD ", \"budget\": {\n\"trials\": 5, \"patience\": 7        \n}}"},
        {HEAD ", \"search\": { /* } */\n}}", "search.nice", "true",
         HEAD ", \"search\": {\"nice\": true        \n}}"},
        {HEAD "\n}\n", "budget.trials", "3", HEAD ", \"budget\": {\"trials\": 3}\n}\n"},
        /* a replaced value: a string of brackets, a nested object */
        {HEAD ",\n\"device\": \"]}\\\"//\",\n\"seed\": 1}", "device", "\"auto\"",
         HEAD ",\n\"device\": \"auto\",\n\"seed\": 1}"},
        {HEAD ",\n\"budget\": {\n\"trials\": 5, // {\n\"time\": \"1h\"\n},\n\"seed\": 1}", "budget",
         "{\"trials\":6}", HEAD ",\n\"budget\": {\"trials\":6}\n\n\n,\n\"seed\": 1}"},
        /* a removed key: the first, the last, the only one, one that is missing */
        {HEAD ", \"budget\": {\n\"trials\": 5\n, /* , */\n\"time\": \"1h\"}}", "budget.trials",
         "null", HEAD ", \"budget\": {\n\n         \n\"time\": \"1h\"}}"},
        {HEAD ", \"budget\": {\"time\": \"1h\", // an hour\n\"trials\":\n5}}", "budget.trials",
         "null", HEAD ", \"budget\": {\"time\": \"1h\"            \n\n}}"},
        {HEAD ", \"budget\": {\"trials\": 5}}", "budget.trials", "null", HEAD ", \"budget\": {}}"},
        {HEAD "}", "budget.trials", "null", HEAD "}"},
        /* a byte order mark */
        {"\xef\xbb\xbf" HEAD ",\n\"seed\": 1}", "seed", "2", "\xef\xbb\xbf" HEAD ",\n\"seed\": 2}"},
    };
#undef HEAD
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *changed = change_one(rows[i].text, rows[i].key, rows[i].value);
        assert_string_equal(changed, rows[i].changed);
        free(changed);
    }
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
        cmocka_unit_test(every_key_stays_on_its_line),
        cmocka_unit_test(without_changes_the_text_stays),
        cmocka_unit_test(a_changed_value_is_checked),
    };
    return cmocka_run_group_tests_name("change", tests, NULL, NULL);
}
