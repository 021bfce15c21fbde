/* json: accepted input, and the text and position of errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"

static struct json_document document;

static struct json read_root(const char *text) {
    struct error error = {0};
    if (json_read_text(&document, "f.json", text, &error) < 0)
        fail_msg("%s", error.text);
    return json_root(&document);
}

static int release(void **state) {
    (void)state;
    json_release(&document);
    return 0;
}

static struct json find(const struct json *object, const char *key) {
    struct json found;
    assert_true(json_find(object, key, &found));
    return found;
}

static void assert_refused(const char *text, const char *message) {
    struct error error = {0};
    if (json_read_text(&document, "f.json", text, &error) == 0)
        fail_msg("accepted: %s", text);
    assert_int_equal(error.kind, ERROR_INPUT);
    assert_string_equal(error.text, message);
    assert_null(document.root);
}

static void reads_values(void **state) {
    (void)state;
    struct error error = {0};
    struct json root =
        read_root("{ \"a\": 3, \"b\": -2.5, \"c\": true, \"d\": \"x\", \"e\": [7, 8] }");
    int64_t whole = 0;
    double number = 0;
    bool flag = false;
    const char *text = NULL;
    struct json value = find(&root, "a");
    assert_int_equal(json_integer(&value, &whole, &error), 0);
    assert_int_equal(whole, 3);
    value = find(&root, "b");
    assert_int_equal(json_number(&value, &number, &error), 0);
    assert_true(number == -2.5);
    value = find(&root, "c");
    assert_int_equal(json_bool(&value, &flag, &error), 0);
    assert_true(flag);
    value = find(&root, "d");
    assert_int_equal(json_string(&value, &text, &error), 0);
    assert_string_equal(text, "x");
    value = find(&root, "e");
    assert_int_equal(json_is_array(&value, &error), 0);
    assert_int_equal(json_count(&value), 2);
    struct json second = json_at(&value, 1);
    assert_string_equal(second.path, "e[1]");
    assert_int_equal(json_integer(&second, &whole, &error), 0);
    assert_int_equal(whole, 8);
    assert_int_equal(error.kind, ERROR_NONE);
}

static void keys_keep_their_case(void **state) {
    (void)state;
    struct json root = read_root("{ \"Seed\": 1, \"seed\": 2 }");
    struct error error = {0};
    int64_t number;
    struct json value = find(&root, "seed");
    assert_int_equal(json_integer(&value, &number, &error), 0);
    assert_int_equal(number, 2);
    assert_false(json_find(&root, "SEED", &value));
}

static void comments_are_blank(void **state) {
    (void)state;
    struct json root = read_root("// first\n"
                                 "{ /* many\n lines \" of { it */ \"a\": 1, // \"a\": 2,\n"
                                 "  \"b\": \"no // comment /* here */\", \"c\\\"//\": 3 }\n"
                                 "/* last */ //");
    struct error error = {0};
    const char *text;
    assert_int_equal(json_count(&root), 3);
    struct json value = find(&root, "b");
    assert_int_equal(json_string(&value, &text, &error), 0);
    assert_string_equal(text, "no // comment /* here */");
    json_error(&value, &error, "here");
    assert_string_equal(error.text, "f.json:4: b: here");
    assert_true(json_find(&root, "c\"//", &value));
}

static void errors_say_where(void **state) {
    (void)state;
    struct json root = read_root("{\n"
                                 "  \"cases\": [\n"
                                 "    { \"S\": 1 }, { \"S\": 2 },\n"
                                 "    {\n"
                                 "      \"B\": \"x:y\", // :\n"
                                 "      \"S\":\n"
                                 "        true }\n"
                                 "  ], \"empty\": {}, \"none\": [], \"null\": null,\n"
                                 "  \"last\": -1.5e3\n"
                                 "}\n");
    static const struct {
        const char *key, *message;
    } rows[] = {{"empty", "f.json:8: empty: here"},
                {"none", "f.json:8: none: here"},
                {"null", "f.json:8: null: here"},
                {"last", "f.json:9: last: here"},
                {"cases", "f.json:2: cases: here"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct error error = {0};
        struct json value = find(&root, rows[i].key);
        assert_int_equal(json_error(&value, &error, "here"), -1);
        assert_string_equal(error.text, rows[i].message);
    }
    struct error error = {0};
    struct json cases = find(&root, "cases");
    struct json third = json_at(&cases, 2);
    struct json value = find(&third, "S");
    int64_t number = 77;
    assert_int_equal(json_integer(&value, &number, &error), -1);
    assert_string_equal(error.text, "f.json:7: cases[2].S: must be a whole number");
    assert_int_equal(number, 77);
    char where[64];
    json_location(&value, where, sizeof where);
    assert_string_equal(where, "f.json:7: cases[2].S");
    json_error(&root, &error, "here");
    assert_string_equal(error.text, "f.json:1: here");
}

static void bad_text_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"", "f.json:1: not valid JSON at column 1: look for a missing comma, quote or bracket"},
        {"{ \"a\": 1,\n  \"b\" 2 }",
         "f.json:2: not valid JSON at column 7: look for a missing comma, quote or bracket"},
        {"{ \"a\": 1 } x",
         "f.json:1: not valid JSON at column 12: look for a missing comma, quote or bracket"},
        {"{ \"a\": 1,\n /* open", "f.json:2: this comment is never closed: add */"},
        {"{ \"a\": 1,\n \"b\": 2,\n \"a\": 3 }", "f.json:3: a: duplicate key: remove one"},
        {"[ { \"x\": { \"k\": 1, \"\\u006b\": 2 } } ]",
         "f.json:1: [0].x.k: duplicate key: remove one"},
        {"{ \"a\": \"x\\u0000y\" }", "f.json:1: a string cannot hold \\u0000: remove it"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_refused(rows[i].text, rows[i].message);
}

static void broken_text_never_crashes(void **state) {
    (void)state;
    static const char *const texts[] = {"\"",           "\"\\",     "{\"a", "/",  "//",
                                        "/*/",          "{\"\\u00", "[[[[", "\\", "{\"a\":1e}",
                                        "\xef\xbb\xbf", "[1,]",     "{,}",  "nul"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct error error = {0};
        assert_int_equal(json_read_text(&document, "f.json", texts[i], &error), -1);
        assert_int_equal(error.kind, ERROR_INPUT);
        assert_ptr_equal(strstr(error.text, "f.json:1: "), error.text);
    }
    /* Deeper than cJSON's nesting limit. */
    static char deep[4000];
    memset(deep, '[', sizeof deep - 1);
    struct error error = {0};
    assert_int_equal(json_read_text(&document, "f.json", deep, &error), -1);
}

static void whole_numbers_are_exact(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool accepted;
        int64_t number;
    } rows[] = {
        {"9007199254740991", true, INT64_C(9007199254740991)},
        {"-9007199254740991", true, INT64_C(-9007199254740991)},
        {"9007199254740993", false, 0}, /* a double cannot hold it */
        {"\"9007199254740993\"", true, INT64_C(9007199254740993)},
        {"\"9223372036854775807\"", true, INT64_MAX},
        {"\"-9223372036854775808\"", true, INT64_MIN},
        {"\"9223372036854775808\"", false, 0},
        {"\"12x\"", false, 0},
        {"\" 12\"", false, 0},
        {"\"+12\"", false, 0},
        {"\"-\"", false, 0},
        {"\"\"", false, 0},
        {"1e3", true, 1000},
        {"1.5", false, 0},
        {"1e400", false, 0},
        {"null", false, 0},
        {"[1]", false, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct error error = {0};
        int64_t number = 0;
        struct json root = read_root(rows[i].text);
        int result = json_integer(&root, &number, &error);
        if ((result == 0) != rows[i].accepted || number != rows[i].number)
            fail_msg("%s gives %d, %lld", rows[i].text, result, (long long)number);
        json_release(&document);
    }
}

static void kinds_are_checked(void **state) {
    (void)state;
    struct json root = read_root("{ \"a\": 1, \"b\": \"x\", \"c\": [], \"d\": 1e400 }");
    struct error error = {0};
    const char *text;
    double number;
    bool flag;
    struct json a = find(&root, "a");
    struct json b = find(&root, "b");
    struct json c = find(&root, "c");
    struct json d = find(&root, "d");
    json_string(&a, &text, &error);
    assert_string_equal(error.text, "f.json:1: a: must be a string in double quotes");
    json_bool(&a, &flag, &error);
    assert_string_equal(error.text, "f.json:1: a: must be true or false");
    json_number(&b, &number, &error);
    assert_string_equal(error.text, "f.json:1: b: must be a number");
    assert_int_equal(json_number(&d, &number, &error), -1);
    json_is_array(&b, &error);
    assert_string_equal(error.text, "f.json:1: b: must be a list: [ ... ]");
    json_is_object(&c, &error);
    assert_string_equal(error.text, "f.json:1: c: must be an object: { ... }");
}

static void unknown_keys_name_the_nearest(void **state) {
    (void)state;
    static const char *const keys[] = {"template", "cases", "budget", NULL};
    struct json root = read_root("{ \"template\": 1,\n \"Budgt\": 2 }");
    struct error error = {0};
    assert_int_equal(json_check_keys(&root, keys, &error), -1);
    assert_string_equal(error.text, "f.json:2: Budgt: unknown key; did you mean \"budget\"?");
    struct json value;
    assert_int_equal(json_require(&root, "cases", &value, &error), -1);
    assert_string_equal(error.text, "f.json:1: the key \"cases\" is missing");
}

static void files(void **state) {
    (void)state;
    struct error error = {0};
    assert_int_equal(json_read(&document, "/nowhere/x.json", &error), -1);
    assert_non_null(strstr(error.text, "/nowhere/x.json: No such file"));
    assert_int_equal(json_read(&document, "/", &error), -1);
    char path[] = "/tmp/evotile-json-XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, "{}\0{}", 5), 5);
    assert_int_equal(json_read(&document, path, &error), -1);
    assert_non_null(strstr(error.text, "holds a NUL byte"));
    assert_int_equal(ftruncate(descriptor, 2), 0);
    assert_int_equal(json_read(&document, path, &error), 0);
    close(descriptor);
    unlink(path);
}

static void long_paths_are_cut(void **state) {
    (void)state;
    char text[1200] = "";
    for (int i = 0; i < 40; i++)
        strcat(text, "{ \"a_rather_long_key\": ");
    strcat(text, "1");
    for (int i = 0; i < 40; i++)
        strcat(text, "}");
    struct json value = read_root(text);
    struct error error = {0};
    while (json_count(&value) > 0)
        value = json_at(&value, 0);
    assert_int_equal(strlen(value.path), JSON_PATH_SIZE - 1);
    json_error(&value, &error, "here");
    assert_non_null(strstr(error.text, ": here"));
}

static void paths_are_one_line(void **state) {
    (void)state;
    struct json value = read_root("{ \"a\\nkey\": 1 }");
    struct error error = {0};
    value = json_at(&value, 0);
    assert_string_equal(value.path, "a?key");
    assert_string_equal(json_key(&value), "a\nkey");
    json_error(&value, &error, "here");
    assert_null(strchr(error.text, '\n'));
}

static void many_elements_are_quick(void **state) {
    (void)state;
    enum { COUNT = 400000 };
    char *text = malloc(2 * COUNT + 2);
    assert_non_null(text);
    for (int i = 0; i < COUNT; i++)
        memcpy(text + 2 * i, i == 0 ? "[1" : ",1", 2);
    strcpy(text + 2 * COUNT, "]");
    struct json root = read_root(text);
    free(text);
    assert_int_equal(json_count(&root), COUNT);
}

struct record {
    int count;
    int64_t bytes;
    double ratio, unknown;
    bool passed;
    char name[8];
};

static void fields_become_members(void **state) {
    (void)state;
    static const struct field fields[] = {
        FIELD(struct record, INT, count),
        FIELD(struct record, INT64, bytes),
        FIELD_AS(struct record, DOUBLE, ratio, "share"),
        FIELD(struct record, DOUBLE, unknown),
        FIELD(struct record, BOOL, passed),
        FIELD(struct record, TEXT, name),
        {0},
    };
    const struct record record = {-3, INT64_C(1) << 40, 0.25, NAN, true, "a\"b"};
    cJSON *object = cJSON_CreateObject();
    json_add_fields(object, fields, &record);
    char *text = json_print_line(object);
    assert_string_equal(text,
                        "{\"count\":-3,\"bytes\":1099511627776,\"share\":0.25,\"unknown\":null,"
                        "\"passed\":true,\"name\":\"a\\\"b\"}");
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(reads_values, release),
        cmocka_unit_test_teardown(keys_keep_their_case, release),
        cmocka_unit_test_teardown(comments_are_blank, release),
        cmocka_unit_test_teardown(errors_say_where, release),
        cmocka_unit_test(bad_text_is_refused),
        cmocka_unit_test(broken_text_never_crashes),
        cmocka_unit_test(whole_numbers_are_exact),
        cmocka_unit_test_teardown(kinds_are_checked, release),
        cmocka_unit_test_teardown(unknown_keys_name_the_nearest, release),
        cmocka_unit_test_teardown(files, release),
        cmocka_unit_test_teardown(long_paths_are_cut, release),
        cmocka_unit_test_teardown(paths_are_one_line, release),
        cmocka_unit_test_teardown(many_elements_are_quick, release),
        cmocka_unit_test(fields_become_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
