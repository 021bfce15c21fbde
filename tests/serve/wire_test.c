/* Requests that are taken or refused: those of requests.txt, and those at their limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/memory.h"
#include "serve/metrics_text.h"
#include "serve/wire.h"

#include <stdlib.h>
#include <string.h>

static const struct wire_rules any = {.takes_folders = true};

static int parse(const char *text, const struct wire_rules *rules, struct error *error) {
    struct wire_request request;
    int result = wire_parse(&request, text, strlen(text), rules, error);
    wire_request_release(&request);
    return result;
}

static void assert_refused(const char *text, const char *why) {
    struct error error = {0};
    if (parse(text, &any, &error) == 0)
        fail_msg("%.200s is taken", text);
    if (strstr(error.text, why) == NULL || strchr(error.text, '\n') != NULL)
        fail_msg("%.200s: %s", text, error.text);
    assert_int_equal(error.kind, ERROR_INPUT);
}

static void assert_taken(const char *text) {
    struct error error = {0};
    if (parse(text, &any, &error) < 0)
        fail_msg("%.200s: %s", text, error.text);
}

static void test_requests(void **state) {
    FILE *file = fopen("tests/serve/requests.txt", "r");
    char *line = NULL;
    size_t size = 0;
    int count = 0;
    (void)state;
    assert_non_null(file);
    while (getline(&line, &size, file) > 0) {
        line[strcspn(line, "\n")] = '\0';
        char *why = strstr(line, " # ");
        if (why != NULL)
            *why = '\0';
        if (strncmp(line, "ok ", 3) == 0)
            assert_taken(line + 3);
        else
            assert_refused(line + 4, why + 3);
        count++;
    }
    assert_true(count > 50);
    free(line);
    fclose(file);
}

static void test_text(void **state) {
    char *deep = xmalloc(6001);
    (void)state;
    memset(deep, '[', 6000);
    deep[6000] = '\0';
    assert_refused(deep, "not valid JSON");
    assert_refused("", "not valid JSON at byte 1");
    assert_refused("{\"type\":\"health\"} x", "not valid JSON");
    assert_refused("{\"type\":\"health\",\"id\":\"a\\u0000b\"}", "cannot hold \\u0000");
    assert_taken("{\"type\":\"health\",\"id\":\"a\\\\u0000b\"}");
    assert_refused("{\"type\":\"health\",\"id\":\"\xff\"}", "not UTF-8");
    assert_refused("{\"type\":\"health\",\"id\":\"\xed\xa0\x80\"}", "not UTF-8"); /* a surrogate */
    assert_refused("{\"type\":\"health\",\"id\":\"\xc0\x80\"}", "not UTF-8");     /* overlong */
    assert_refused("{\"type\":\"health\",\"id\":\"\xf4\x90\x80\x80\"}",
                   "not UTF-8"); /* too large */
    assert_taken("{\"type\":\"health\",\"id\":\"\xf0\x9f\x98\x80 \xc3\xa9 \xe2\x82\xac\"}");
    assert_refused("{\"type\":\"health\",\"type\":\"health\"}", "has the key \"type\" twice");
    assert_refused("{\"type\":\"evaluate\",\"solution\":{\"files\":{\"a\":\"\",\"a\":\"\"}}}",
                   "\"files\" has \"a\" twice");
    struct error error = {0};
    struct wire_request request;
    assert_int_equal(wire_parse(&request, "{\"type\":\"health\"}\0 ", 19, &any, &error), -1);
    free(deep);
}

/* An error repeats a client's word without its control characters, and not all of it. */
static void test_words(void **state) {
    char text[600] = "{\"type\":\"health\",\"\\u001b]0;\\u0007";
    struct error error = {0};
    (void)state;
    for (int i = 0; i < 100; i++)
        strcat(text, "\xc3\xa9");
    strcat(text, "\":1}");
    assert_int_equal(parse(text, &any, &error), -1);
    assert_non_null(strstr(error.text, "\"\\x1b]0;\\x07\xc3\xa9"));
    assert_null(strpbrk(error.text, "\x1b\x07"));
    assert_true(strlen(error.text) < 200);
}

static char *solution(int files, size_t bytes) {
    cJSON *object = cJSON_CreateObject();
    cJSON *list = cJSON_AddObjectToObject(cJSON_AddObjectToObject(object, "solution"), "files");
    char *text = xmalloc(bytes + 1);
    memset(text, 'x', bytes);
    text[bytes] = '\0';
    for (int f = 0; f < files; f++) {
        char name[3] = {(char)('A' + f / 26), (char)('A' + f % 26), '\0'};
        cJSON_AddStringToObject(list, name, f == 0 ? text : "");
    }
    free(text);
    json_add(object, "type=%s", "evaluate");
    return json_print_line(object);
}

static void test_limits(void **state) {
    char *most[] = {solution(WIRE_FILES, 10), solution(1, WIRE_FILE_BYTES - 2)};
    char *more[] = {solution(WIRE_FILES + 1, 10), solution(1, WIRE_FILE_BYTES - 1)};
    char *blank = xmalloc(WIRE_MESSAGE_BYTES + 2);
    (void)state;
    for (int i = 0; i < 2; i++)
        assert_taken(most[i]);
    assert_refused(more[0], "more than 64 files");
    assert_refused(more[1], "more than 4 MB");
    memset(blank, ' ', WIRE_MESSAGE_BYTES + 1);
    blank[WIRE_MESSAGE_BYTES + 1] = '\0';
    memcpy(blank, "{\"type\":\"health\"}", 17);
    assert_refused(blank, "a message has at most 8 MB");
    blank[WIRE_MESSAGE_BYTES] = '\0';
    assert_taken(blank);
    for (int i = 0; i < 2; i++) {
        free(most[i]);
        free(more[i]);
    }
    free(blank);
}

static void test_rules(void **state) {
    static const struct wire_rules asks = {.type = "ask"};
    struct wire_request request;
    struct error error = {0};
    (void)state;
    assert_int_equal(wire_parse(&request, "{\"id\":5}", 8, &asks, &error), 0);
    assert_int_equal(request.type, WIRE_ASK);
    assert_int_equal(request.bytes, 8);
    assert_string_equal(cJSON_GetObjectItem(request.object, "type")->valuestring, "ask");
    assert_int_equal(request.id->valueint, 5);
    wire_request_release(&request);
    assert_int_equal(wire_parse(&request, "{\"id\":5,\"type\":\"tell\"}", 22, &asks, &error), -1);
    assert_null(request.object);
    assert_int_equal(request.id->valueint, 5); /* an error still says which request it means */
    wire_request_release(&request);
    static const struct wire_rules remote = {.takes_folders = false};
    assert_int_equal(
        parse("{\"type\":\"evaluate\",\"solution\":{\"folder\":\"/x\"}}", &remote, &error), -1);
    assert_non_null(strstr(error.text, "send \"files\""));
    cJSON *levels =
        cJSON_Parse("[{},{\"level\":\"static\"},{\"level\":\"emulated\"},{\"level\":\"device\"},"
                    "{\"level\":\"champion\"}]");
    static const enum wire_level expected[] = {WIRE_DEVICE, WIRE_STATIC, WIRE_EMULATED, WIRE_DEVICE,
                                               WIRE_CHAMPION};
    for (int i = 0; i < 5; i++)
        assert_int_equal(wire_level(cJSON_GetArrayItem(levels, i)), expected[i]);
    cJSON_Delete(levels);
}

static void test_metrics(void **state) {
    cJSON *metrics = cJSON_Parse("{\"a-b\":1.5,\"c_total\":{\"x\\\"y\\\\z\\n\":2,\"text\":\"t\"},"
                                 "\"list\":[3,4],\"word\":\"w\",\"empty\":{}}");
    char *text = metrics_text(metrics);
    (void)state;
    assert_string_equal(text, "# TYPE evotile_a_b gauge\nevotile_a_b 1.5\n"
                              "# TYPE evotile_c_total counter\n"
                              "evotile_c_total{name=\"x\\\"y\\\\z\\n\"} 2\n"
                              "# TYPE evotile_list gauge\nevotile_list{name=\"0\"} 3\n"
                              "evotile_list{name=\"1\"} 4\n");
    free(text);
    cJSON_Delete(metrics);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests), cmocka_unit_test(test_text),
        cmocka_unit_test(test_words),    cmocka_unit_test(test_limits),
        cmocka_unit_test(test_rules),    cmocka_unit_test(test_metrics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
