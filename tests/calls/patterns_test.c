/* calls/patterns: what calls.json may say, and which calls are then cases. Each row that must not
   fit is a call whose result a case would not have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "calls/patterns.h"
#include "template/example.h"

static struct template *template;

static int make(void **state) {
    struct error error = {0};
    (void)state;
    example_new(&example);
    template = template_load(example.folder, NULL, &error);
    assert_non_null(template);
    return 0;
}

static int discard(void **state) {
    (void)state;
    template_free(template);
    example_free(&example);
    return 0;
}

/* ---- the file ---- */

#define CALL(arguments, rest)                                                                      \
    "{ \"format\": 1, \"calls\": [ { \"operator\": \"aten::f\", \"arguments\": { " arguments       \
    " }" rest " } ] }"

static void mistakes(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"{ \"format\": 2, \"calls\": [] }", "calls.json:1: format: this evotile reads"},
        {"{ \"format\": 1 }", "the key \"calls\" is missing"},
        {"{ \"format\": 1, \"calls\": [ { \"operator\": \"f\" } ] }",
         "calls[0]: the key \"arguments\" is missing"},
        {CALL("\"x\": { \"shape\": [\"NN\"] }", ""),
         "calls[0].arguments.x.shape[0]: example has no dimension \"NN\"; did you mean N?"},
        {CALL("\"x\": { \"shape\": [\"N\", \"NN...\"] }", ""), "has no dimension \"NN\""},
        {CALL("\"x\": { \"shape\": [\"GAIN\"] }", ""),
         "GAIN is a real number, and an extent is whole"},
        {CALL("\"x\": { \"shape\": [\"M...\", \"N...\"] }", ""),
         "a shape has one item with \"...\" at most"},
        {CALL("\"x\": { \"shape\": [\"N\"], \"dtype\": { \"half\": {} } }", ""),
         "x.dtype.half: no dtype of a template"},
        {CALL("\"x\": { \"shape\": [\"N\"], \"dtype\": {} }", ""), "is empty: no call could fit"},
        {CALL("\"x\": { \"shape\": [\"N\"], \"dtype\": { \"f16\": { \"K\": 1 } } }", ""),
         "x.dtype.f16.K: example has no dimension \"K\""},
        {CALL("\"x\": { \"shape\": [\"N\"], \"order\": { \"02\": {} } }", ""),
         "x.order.02: no order of extents"},
        {CALL("\"x\": { \"shape\": [\"N\"], \"order\": { \"00\": {} } }", ""),
         "no order of extents"},
        {CALL("\"x\": { \"shape\": [\"N\"], \"value\": 1 }", ""),
         "an argument with a \"shape\" is a tensor or a list"},
        {CALL("\"x\": {}", ""), "must have a \"shape\", or one of"},
        {CALL("\"x\": { \"value\": 1, \"any\": true }", ""), "must have a \"shape\", or one of"},
        {CALL("\"x\": { \"dtype\": { \"f16\": {} } }", ""),
         "a \"dtype\", an \"order\" or a \"tensor\" is of a \"shape\""},
        {CALL("\"x\": { \"tensor\": \"y\" }", ""), "a \"tensor\" is of a \"shape\""},
        {CALL("\"x\": { \"value\": 1, \"not\": 0 }", ""),
         "must be the number that a \"dimension\" cannot stand for"},
        {CALL("\"x\": { \"dimension\": \"N\", \"not\": \"none\" }", ""),
         "must be the number that a \"dimension\" cannot stand for"},
        {CALL("\"x\": { \"dimension\": \"N\", \"not\": 0, \"any\": true }", ""),
         "must have a \"shape\", or one of"},
        {CALL("\"x\": { \"any\": false }", ""), "must be true"},
        {CALL("\"x\": { \"value\": [1] }", ""), "must be a number, a text, true, false or null"},
        {CALL("\"x\": { \"last\": \"y\" }", ""), "no argument \"y\" has a \"shape\""},
        {CALL("\"x\": { \"dimension\": \"K\" }", ""), "has no dimension \"K\""},
        {CALL("\"x\": { \"shapes\": [] }", ""), "did you mean \"shape\"?"},
        {CALL("", ", \"dimensions\": { \"K\": 1 }"), "dimensions.K: example has no dimension"},
        {CALL("", ", \"require\": [ { \"require\": \"N +\", \"because\": \"\" } ]"),
         "require[0].require: column"},
        {CALL("", ", \"require\": [ { \"require\": \"GAIN > 1\", \"because\": \"\" } ]"),
         "GAIN is a real number, which expressions cannot read"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct error error = {0};
        example_put(&example, "example/calls.json", rows[i].text);
        if (call_patterns_read(template, &error) != NULL ||
            strstr(error.text, rows[i].message) == NULL)
            fail_msg("for %s\n  expected: %s\n  actual:   %s", rows[i].text, rows[i].message,
                     error.text);
    }
}

static void without_a_file(void **state) {
    struct error error = {0};
    char path[PATH_SIZE];
    (void)state;
    assert_int_equal(path_join(path, example.folder, "calls.json", &error), 0);
    remove(path);
    assert_null(call_patterns_read(template, &error));
    assert_non_null(strstr(error.text, "example does not say which calls are its cases: write "));
    assert_non_null(strstr(error.text, "or give the shapes by --from-csv"));
}

/* ---- calls ---- */

/* `wanted`: the case that it is, or why it is none; with another operator, "other". */
static void expect(const char *patterns_text, const char *call_text, const char *wanted) {
    struct error error = {0};
    struct json_document document;
    struct shape shape;
    char actual[CALL_REASON_SIZE + CASE_NAME_SIZE] = "other", reason[CALL_REASON_SIZE] = "";
    example_put(&example, "example/calls.json", patterns_text);
    struct call_patterns *patterns = call_patterns_read(template, &error);
    if (patterns == NULL)
        fail_msg("%s: %s", patterns_text, error.text);
    if (json_read_text(&document, "call", call_text, &error) < 0)
        fail_msg("%s", error.text);
    struct json root = json_root(&document);
    switch (call_patterns_match(patterns, &root, &shape, reason)) {
    case CALL_FITS:
        template_print_shape(template, &shape, actual);
        break;
    case CALL_UNLIKE:
        snprintf(actual, sizeof actual, "%s", reason);
        break;
    case CALL_OTHER:
        break;
    }
    if (strcmp(actual, wanted) != 0)
        fail_msg("for %s\n  expected: %s\n  actual:   %s", call_text, wanted, actual);
    json_release(&document);
    call_patterns_free(patterns);
}

#define TENSOR(shape, strides, dtype)                                                              \
    "{ \"shape\": [" shape "], \"strides\": [" strides "], \"dtype\": \"" dtype "\" }"
#define OF(arguments) "{ \"operator\": \"aten::f\", \"arguments\": { " arguments " } }"

/* A number that means something else to the template. */
static void excluded(void **state) {
    (void)state;
    static const char other[] = CALL("\"n\": { \"dimension\": \"N\", \"not\": 4 }", "");
    expect(other, OF("\"n\": 5"), "N=5");
    expect(other, OF("\"n\": 4"), "n is 4");
    expect(other, OF("\"n\": 4.0"), "n is 4");
}

static void shapes(void **state) {
    (void)state;
    static const char rows[] = CALL("\"x\": { \"shape\": [\"M...\", \"N\"] }", "");
    expect(rows, OF("\"x\": " TENSOR("3, 40", "40, 1", "f16")), "N=40,M=3");
    expect(rows, OF("\"x\": " TENSOR("2, 5, 40", "200, 40, 1", "f16")), "N=40,M=10");
    expect(rows, OF("\"x\": " TENSOR("40", "1", "f16")), "N=40,M=1");
    expect(rows, OF("\"x\": " TENSOR("1, 40", "7, 1", "f16")), "N=40,M=1");
    expect(rows, OF("\"x\": " TENSOR("", "", "f16")), "x has 0 extents");
    expect(rows, OF("\"x\": " TENSOR("3, 40", "1, 3", "f16")),
           "x is not packed, the last extent first");
    expect(rows, OF("\"x\": " TENSOR("3, 40", "80, 1", "f16")),
           "x is not packed, the last extent first");
    expect(rows, OF("\"x\": " TENSOR("3, 40", "40, 2", "f16")),
           "x is not packed, the last extent first");
    expect(rows, OF("\"x\": " TENSOR("0, 40", "40, 1", "f16")),
           "M: M is 0, but must lie between 1 and 2147483647");
    expect(rows, OF("\"x\": " TENSOR("3, 100001", "100001, 1", "f16")),
           "N: N is 100001, but must lie between 1 and 100000");
    expect(rows, OF("\"x\": { \"shape\": [3, 40], \"dtype\": \"f16\" }"), "x has no strides");
    expect(rows, OF("\"x\": " TENSOR("3, 4.5", "40, 1", "f16")), "x is no tensor");
    expect(rows, OF("\"x\": 3"), "x is no tensor");
    expect(rows, OF("\"y\": 3"), "its argument y is not described");
    expect(rows, "{ \"operator\": \"aten::g\", \"arguments\": {} }", "other");
    static const char fixed[] = CALL("\"x\": { \"shape\": [4, \"N\", \"...\"] }", "");
    expect(fixed, OF("\"x\": " TENSOR("4, 40, 7, 9", "2520, 63, 9, 1", "f16")), "N=40");
    expect(fixed, OF("\"x\": " TENSOR("5, 40", "40, 1", "f16")), "an extent of x is 5 and not 4");
    static const char two[] =
        CALL("\"x\": { \"shape\": [\"M\", \"N\"] }, \"y\": { \"shape\": [\"N\"] }", "");
    expect(two, OF("\"x\": " TENSOR("3, 40", "40, 1", "f16") ", \"y\": [40]"), "N=40,M=3");
    expect(two, OF("\"x\": " TENSOR("3, 40", "40, 1", "f16") ", \"y\": [41]"),
           "N would be both 40 and 41");
}

static void dtypes_and_values(void **state) {
    (void)state;
    static const char kinds[] =
        CALL("\"x\": { \"shape\": [\"N\"], \"dtype\": { \"f16\": { \"KIND\": 1 }, \"f32\": {} } }",
             ", \"dimensions\": { \"M\": 2 }");
    expect(kinds, OF("\"x\": " TENSOR("40", "1", "f16")), "N=40,M=2,KIND=1");
    expect(kinds, OF("\"x\": " TENSOR("40", "1", "f32")), "N=40,M=2");
    expect(kinds, OF("\"x\": " TENSOR("40", "1", "bf16")), "x is bf16");
    static const char numbers[] =
        CALL("\"n\": { \"dimension\": \"N\" }, \"gain\": { \"dimension\": \"GAIN\" }, \"kind\": { "
             "\"dimension\": \"KIND\" }, \"mask\": { \"value\": null }, \"p\": { \"value\": 0 }, "
             "\"mode\": { \"value\": \"sum\" }",
             ", \"require\": [ { \"require\": \"N % 2 == 0\", \"because\": \"N is even\" } ]");
#define NUMBERS(n, gain, kind, mask, p, mode)                                                      \
    OF("\"n\": " n ", \"gain\": " gain ", \"kind\": " kind ", \"mask\": " mask ", \"p\": " p       \
       ", \"mode\": " mode)
    expect(numbers, NUMBERS("40", "0.5", "7", "null", "0.0", "\"sum\""), "N=40,KIND=7,GAIN=0.5");
    expect(numbers, NUMBERS("40", "null", "true", "null", "0", "\"sum\""), "N=40,KIND=1");
    expect(numbers, NUMBERS("40", "0.5", "3", "null", "0", "\"sum\""),
           "KIND: KIND is 3, but must be one of 0, 1, 7");
    expect(numbers, NUMBERS("4.5", "0.5", "7", "null", "0", "\"sum\""), "n is no whole number");
    expect(numbers, NUMBERS("41", "null", "0", "null", "0", "\"sum\""), "N is even");
    expect(numbers, NUMBERS("40", "null", "0", "[1]", "0", "\"sum\""), "mask is [1]");
    expect(numbers, NUMBERS("40", "null", "0", TENSOR("1", "1", "f16"), "0", "\"sum\""),
           "mask is a tensor");
    expect(numbers, NUMBERS("40", "null", "0", "null", "0.1", "\"sum\""), "p is 0.1");
    expect(numbers, NUMBERS("40", "null", "0", "null", "0", "\"mean\""), "mode is \"mean\"");
    expect(numbers, OF("\"n\": 40, \"p\": 0"), "mode is missing");
    expect(numbers, OF("\"p\": 0, \"mode\": \"sum\""), "N is missing (numbers)");
    static const char last[] =
        CALL("\"x\": { \"shape\": [\"M...\", \"N\"] }, \"dim\": { \"last\": \"x\" }", "");
    expect(last, OF("\"x\": " TENSOR("3, 40", "40, 1", "f16") ", \"dim\": -1"), "N=40,M=3");
    expect(last, OF("\"x\": " TENSOR("3, 40", "40, 1", "f16") ", \"dim\": 1"), "N=40,M=3");
    expect(last, OF("\"x\": " TENSOR("3, 40", "40, 1", "f16") ", \"dim\": 0"),
           "dim is not the last extent");
}

/* Where an extent of 1 leaves the order of one tensor open, another tensor decides it. */
static void orders(void **state) {
    (void)state;
#define ORDERED                                                                                    \
    "{ \"shape\": [\"M\", \"N\"], \"order\": { \"01\": { \"KIND\": 0 }, \"10\": { \"KIND\": 1 } "  \
    "} }"
    static const char both[] =
        CALL("\"x\": " ORDERED ", \"y\": { \"shape\": [2, \"N\"], \"order\": { "
             "\"01\": { \"KIND\": 0 }, \"10\": { \"KIND\": 1 } } }",
             "");
    expect(
        both,
        OF("\"x\": " TENSOR("3, 40", "40, 1", "f16") ", \"y\": " TENSOR("2, 40", "40, 1", "f16")),
        "N=40,M=3");
    expect(both,
           OF("\"x\": " TENSOR("3, 40", "1, 3", "f16") ", \"y\": " TENSOR("2, 40", "1, 2", "f16")),
           "N=40,M=3,KIND=1");
    expect(both,
           OF("\"x\": " TENSOR("1, 40", "40, 1", "f16") ", \"y\": " TENSOR("2, 40", "1, 2", "f16")),
           "N=40,M=1,KIND=1");
    expect(both,
           OF("\"x\": " TENSOR("3, 40", "40, 1", "f16") ", \"y\": " TENSOR("2, 40", "1, 2", "f16")),
           "KIND would be both 0 and 1");
    expect(both,
           OF("\"x\": " TENSOR("3, 40", "41, 1", "f16") ", \"y\": " TENSOR("2, 40", "1, 2", "f16")),
           "x is in no order of memory that is listed");
}

/* A later pattern of the same operator may fit. */
static void patterns_are_tried_in_order(void **state) {
    (void)state;
    static const char two[] =
        "{ \"format\": 1, \"calls\": [ { \"operator\": \"aten::f\", \"arguments\": { \"x\": { "
        "\"shape\": [\"N\"] } }, \"dimensions\": { \"KIND\": 7 } }, { \"operator\": \"aten::f\", "
        "\"arguments\": { \"x\": { \"shape\": [\"M\", \"N\"] } } } ] }";
    expect(two, OF("\"x\": " TENSOR("40", "1", "f16")), "N=40,KIND=7");
    expect(two, OF("\"x\": " TENSOR("3, 40", "40, 1", "f16")), "N=40,M=3");
    expect(two, OF("\"x\": " TENSOR("3, 4, 5", "20, 5, 1", "f16")), "x has 3 extents");
}

/* The file is no part of a template's identity, so that no source may include it. */
static void the_file_is_not_hashed(void **state) {
    (void)state;
    static const struct shape shape = {{40, 4, 0}};
    const struct template_setting setting = {
        .device = &example_device, .smem_limit = 49152, .cases = &shape, .case_count = 1};
    struct hash hashes[2];
    struct error error = {0};
    for (int i = 0; i < 2; i++) {
        example_put(&example, "example/calls.json", i == 0 ? "{}" : "{ \"format\": 1 }");
        struct template *whole = template_load(example.folder, &setting, &error);
        if (whole == NULL)
            fail_msg("%s", error.text);
        hashes[i] = whole->hash;
        template_free(whole);
    }
    assert_true(hash_equal(hashes[0], hashes[1]));
    example_put(&example, "example/kernel.cu", "#include \"calls.json\"\n");
    struct template *whole = template_load(example.folder, &setting, &error);
    assert_true(whole == NULL || template_kernel_source(whole, &error) == NULL);
    template_free(whole);
    assert_non_null(strstr(error.text, "kernel.cu:1: #include \"calls.json\" is read by `evotile "
                                       "cases` alone"));
    example_put(&example, "example/kernel.cu", example_kernel);
}

int main(void) {
#define TEST(function) cmocka_unit_test(function)
    const struct CMUnitTest tests[] = {
        TEST(mistakes),
        TEST(without_a_file),
        TEST(excluded),
        TEST(shapes),
        TEST(dtypes_and_values),
        TEST(orders),
        TEST(patterns_are_tried_in_order),
        TEST(the_file_is_not_hashed),
    };
    return cmocka_run_group_tests(tests, make, discard);
}
