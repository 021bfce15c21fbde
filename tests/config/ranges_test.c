/* Ranges of dimensions, and the shapes drawn from them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "config/ranges.h"

enum { ROWS, COLS, F32 };

static struct config *read_text(const char *ranges, struct error *error) {
    char text[2048];
    snprintf(text, sizeof text,
             "{ \"template\": \"softmax_rows\", \"cases\": [{ \"ROWS\": 4, \"COLS\": 40 }],\n"
             "\"ranges\": %s }",
             ranges);
    return config_from_text("c.json", text, "templates/softmax_rows", error);
}

static struct config *load(const char *ranges) {
    struct error error = {0};
    struct config *config = read_text(ranges, &error);
    if (config == NULL)
        fail_msg("%s", error.text);
    return config;
}

static int draw(const struct config *config, int count, uint64_t seed, struct shape **shapes) {
    struct error error = {0};
    const int drawn = config_draw_shapes(config, count, seed, shapes, &error);
    if (drawn < 0)
        fail_msg("%s", error.text);
    return drawn;
}

/* Every shape is in the ranges and occurs once; the cases do not; a seed gives the same shapes. */
static void shapes_are_in_the_ranges(void **state) {
    (void)state;
    struct config *config = load("{ \"ROWS\": { \"min\": 3, \"max\": 99, \"multiple_of\": 8 },\n"
                                 "\"COLS\": { \"min\": 1, \"max\": 4096, \"scale\": \"log\" } }");
    struct shape *shapes, *again, *others;
    int small = 0;
    assert_int_equal(draw(config, 500, 7, &shapes), 500);
    assert_int_equal(draw(config, 500, 7, &again), 500);
    assert_int_equal(draw(config, 500, 8, &others), 500);
    assert_memory_equal(shapes, again, 500 * sizeof *shapes);
    assert_memory_not_equal(shapes, others, 500 * sizeof *shapes);
    for (int i = 0; i < 500; i++) {
        const int64_t *values = shapes[i].values;
        assert_true(values[ROWS] >= 8 && values[ROWS] <= 96 && values[ROWS] % 8 == 0);
        assert_true(values[COLS] >= 1 && values[COLS] <= 4096);
        assert_int_equal(values[F32], 0);
        small += values[COLS] <= 64;
        for (int j = 0; j < i; j++)
            assert_memory_not_equal(&shapes[i], &shapes[j], sizeof *shapes);
    }
    assert_in_range(small, 140, 260); /* half of the doublings; fewer, because shapes differ */
    free(shapes);
    free(again);
    free(others);
    config_free(config);
}

/* A small range is drawn from until it is used up: all but the case. */
static void small_ranges_are_used_up(void **state) {
    (void)state;
    struct config *config = load("{ \"ROWS\": { \"min\": 4, \"max\": 8, \"multiple_of\": 2 },\n"
                                 "\"COLS\": { \"values\": [40, 41] } }");
    struct shape *shapes;
    assert_int_equal(draw(config, 64, 1, &shapes), 5);
    free(shapes);
    config_free(config);
}

/* Each end of a range is drawn, whatever the scale. */
static void ends_are_drawn(void **state) {
    (void)state;
    static const char *const scales[] = {"linear", "log"};
    for (int i = 0; i < 2; i++) {
        char text[256];
        snprintf(
            text, sizeof text,
            "{ \"ROWS\": { \"min\": 16, \"max\": 64, \"multiple_of\": 16, \"scale\": \"%s\" },\n"
            "\"COLS\": { \"values\": [9] } }",
            scales[i]);
        struct config *config = load(text);
        struct shape *shapes;
        assert_int_equal(draw(config, 20, 3, &shapes), 4);
        free(shapes);
        config_free(config);
    }
}

/* Divisors of what was drawn; the other dimensions have their defaults, which may depend on it. */
static void divisors_divide(void **state) {
    (void)state;
    struct error error = {0};
    struct config *config = config_from_text(
        "c.json",
        "{ \"template\": \"attention_fwd\", \"cases\": [{ \"B\": 1, \"H\": 1, \"S\": 64, \"D\": "
        "64 }], \"ranges\": { \"B\": { \"min\": 1, \"max\": 4 }, \"H\": { \"min\": 1, \"max\": 32 "
        "}, \"H_KV\": { \"divides\": \"H\" }, \"S\": { \"min\": 1, \"max\": 512 }, \"D\": { "
        "\"values\": [64] } } }",
        "templates/attention_fwd", &error);
    if (config == NULL)
        fail_msg("%s", error.text);
    struct shape *shapes;
    int grouped = 0;
    assert_int_equal(draw(config, 200, 1, &shapes), 200);
    for (int i = 0; i < 200; i++) {
        const int64_t h = template_dimension(config->shapes, &shapes[i], "H", 0);
        const int64_t h_kv = template_dimension(config->shapes, &shapes[i], "H_KV", 0);
        assert_int_equal(h % h_kv, 0);
        grouped += h_kv < h;
        assert_int_equal(template_dimension(config->shapes, &shapes[i], "S_KV", 0),
                         template_dimension(config->shapes, &shapes[i], "S", 1));
    }
    assert_in_range(grouped, 50, 190);
    free(shapes);
    config_free(config);
}

/* The ends of the ranges, for each list value of the cases, without what is a case. */
static void ends_of_ranges(void **state) {
    (void)state;
    struct error error = {0};
    struct config *config = config_from_text(
        "c.json",
        "{ \"template\": \"softmax_rows\", \"cases\": [{ \"ROWS\": 4, \"COLS\": 40 }, { \"ROWS\": "
        "9, \"COLS\": 41 }, { \"ROWS\": 8, \"COLS\": 9, \"F32\": 1 }], \"ranges\": { \"ROWS\": { "
        "\"min\": 5, \"max\": 23, \"multiple_of\": 4 }, \"COLS\": { \"min\": 9, \"max\": 50 }, "
        "\"F32\": { \"values\": [0, 1] } } }",
        "templates/softmax_rows", &error);
    if (config == NULL)
        fail_msg("%s", error.text);
    static const int64_t expected[][3] = {{8, 9, 0}, {20, 50, 0}, {20, 50, 1}};
    struct shape *shapes;
    assert_int_equal(config_end_shapes(config, &shapes), 3);
    for (int i = 0; i < 3; i++)
        assert_memory_equal(shapes[i].values, expected[i], sizeof expected[i]);
    free(shapes);
    config_free(config);
}

/* Whatever cannot be drawn is one line that names the place. */
static void mistakes(void **state) {
    (void)state;
#define COLS_9 ", \"COLS\": { \"values\": [9] } }"
    static const struct {
        const char *ranges, *message;
    } rows[] = {
        {"3", "c.json:2: ranges: must be an object"},
        {"{}", "c.json:2: ranges: must have the range of a dimension"},
        {"{ \"COLS\": { \"values\": [9] } }",
         "c.json:2: ranges: ROWS has no default: give its range"},
        {"{ \"ROW\": {}" COLS_9, "ranges.ROW: unknown key; did you mean \"ROWS\"?"},
        {"{ \"ROWS\": 4" COLS_9, "ranges.ROWS: must be an object"},
        {"{ \"ROWS\": {}" COLS_9, "ranges.ROWS: the key \"min\" is missing"},
        {"{ \"ROWS\": { \"min\": 4 }" COLS_9, "ranges.ROWS: the key \"max\" is missing"},
        {"{ \"ROWS\": { \"min\": 0, \"max\": 4 }" COLS_9, "ranges.ROWS.min: 0 is no value of ROWS"},
        {"{ \"ROWS\": { \"min\": 1, \"max\": 1e12 }" COLS_9,
         "ranges.ROWS.max: 1000000000000 is no"},
        {"{ \"ROWS\": { \"min\": 5, \"max\": 4 }" COLS_9, "ranges.ROWS: holds no multiple of 1"},
        {"{ \"ROWS\": { \"min\": 5, \"max\": 7, \"multiple_of\": 4 }" COLS_9,
         "ranges.ROWS: holds no multiple of 4: no shape is in it"},
        {"{ \"ROWS\": { \"min\": 5, \"max\": 7, \"multiple_of\": 0 }" COLS_9,
         "ranges.ROWS.multiple_of: must be at least 1"},
        {"{ \"ROWS\": { \"min\": 5, \"max\": 7, \"scale\": \"square\" }" COLS_9,
         "ranges.ROWS.scale: must be \"linear\" or \"log\""},
        {"{ \"ROWS\": { \"values\": [] }" COLS_9, "ranges.ROWS.values: must have 1 to 64 values"},
        {"{ \"ROWS\": { \"values\": [1, 0] }" COLS_9,
         "ranges.ROWS.values[1]: 0 is no value of ROWS"},
        {"{ \"ROWS\": { \"values\": [1.5] }" COLS_9, "ranges.ROWS.values[0]"},
        {"{ \"ROWS\": { \"values\": [1], \"max\": 3 }" COLS_9, "ranges.ROWS.max: unknown key"},
        {"{ \"ROWS\": { \"divides\": \"COLS\" }" COLS_9,
         "ranges.ROWS.divides: must name a dimension that comes before ROWS"},
        {"{ \"ROWS\": { \"values\": [1] }, \"F32\": { \"min\": 0, \"max\": 1 }" COLS_9,
         "ranges.F32: give the \"values\" of F32"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct error error = {0};
        assert_null(read_text(rows[i].ranges, &error));
        if (strstr(error.text, rows[i].message) == NULL || strchr(error.text, '\n') != NULL)
            fail_msg("%s: %s", rows[i].ranges, error.text);
    }
}

/* Ranges that no case's kernel serves, or that hold cases alone, admit no shape. */
static void nothing_to_draw(void **state) {
    (void)state;
    static const struct {
        const char *ranges, *message;
    } rows[] = {
        {"{ \"ROWS\": { \"values\": [4] }, \"COLS\": { \"values\": [40] } }",
         "all of them are cases"},
        {"{ \"ROWS\": { \"values\": [4] }, \"COLS\": { \"values\": [41] }, \"F32\": { \"values\": "
         "[1] } }",
         "no case has the specialised dimensions of any"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct config *config = load(rows[i].ranges);
        struct error error = {0};
        struct shape *shapes = NULL;
        assert_int_equal(config_draw_shapes(config, 10, 1, &shapes, &error), -1);
        if (strstr(error.text, "c.json: \"ranges\" admit no shape") == NULL ||
            strstr(error.text, rows[i].message) == NULL)
            fail_msg("%s", error.text);
        config_free(config);
    }
}

static void files_of_shapes(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
        int count;
    } rows[] = {
        {"[{ \"ROWS\": 4, \"COLS\": 40 }, { \"ROWS\": 5, \"COLS\": 40, \"weight\": 2 }]", NULL, 2},
        {"{ \"template\": \"x\", \"cases\": [{ \"ROWS\": 1, \"COLS\": 1 }] }", NULL, 1},
        {"{ \"case\": [] }", "the key \"cases\" is missing", -1},
        {"[]", "must have 1 to 4096 shapes", -1},
        {"3", "must be a list", -1},
        {"[{ \"ROWS\": 4 }]", "[0]: COLS is missing", -1},
        {"[{ \"ROWS\": 4, \"COLS\": 1, \"F32\": 1 }]", "match no case", -1},
        {"[{ \"ROWS\": 4, \"COLS\": 1 }, { \"ROWS\": 4, \"COLS\": 1 }]", "[1]: occurs twice", -1},
    };
    struct config *config = load("{ \"ROWS\": { \"values\": [4] }" COLS_9);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[] = "/tmp/evotile_shapes_XXXXXX";
        struct error error = {0};
        struct shape *shapes = NULL;
        close(mkstemp(path));
        assert_int_equal(path_write_file(path, rows[i].text, strlen(rows[i].text), &error), 0);
        assert_int_equal(config_read_shapes(config, path, &shapes, &error), rows[i].count);
        if (rows[i].message != NULL && strstr(error.text, rows[i].message) == NULL)
            fail_msg("%s: %s", rows[i].text, error.text);
        free(shapes);
        unlink(path);
    }
    config_free(config);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_are_in_the_ranges),
        cmocka_unit_test(small_ranges_are_used_up),
        cmocka_unit_test(ends_are_drawn),
        cmocka_unit_test(divisors_divide),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(nothing_to_draw),
        cmocka_unit_test(files_of_shapes),
        cmocka_unit_test(ends_of_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
