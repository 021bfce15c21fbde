/* Expressions of Python give what python3 gives; what is none, or too much, is an error. */
#include "import/python.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const expressions[] = {
    "1 + 2 * 3",
    "-7 // 2",
    "7 // -2",
    "-7 % 3",
    "7 % -3",
    "2 ** 10",
    "-2 ** 2",
    "2 ** -1 == 0.5",
    "7 / 2 == 3.5",
    "1 < 2 < 3",
    "1 < 3 < 2",
    "3 > 2 >= 2 != 1",
    "not 1 == 2",
    "not not 5",
    "1 and 0 or 7",
    "0 or 0",
    "3 and 4",
    "5 if 1 > 2 else 6",
    "1 if 0 else 2 if 1 else 3",
    "3 in [1, 2, 3]",
    "4 not in (1, 2)",
    "'a' in 'abc'",
    "'x' == \"x\"",
    "len([1, 2, (3, 4)])",
    "len(range(2, 20, 3))",
    "sum([i * i for i in range(5) if i % 2 == 0])",
    "max(i - j for i in range(3) for j in range(4) if i > j)",
    "min([4, 2, 8])",
    "abs(-3) + abs(2)",
    "all([i > 0 for i in [1, 2]])",
    "any(i > 5 for i in [1, 2])",
    "all([])",
    "any([])",
    "[1, 2, 3][-1]",
    "[16, 32][0] // 3",
    "int(7 / 2)",
    "math.ceil(7 / 2)",
    "math.floor(-7 / 2)",
    "0x20",
    "1e3 == 1000",
    ".5 * 4 == 2",
    "True + True",
    "bool([])",
    "len([1] + [2, 3])",
    "(1,)[0]",
    "len(list(range(10, 0, -3)))",
    "2 ** 3 ** 2",
    "1 == 1.0",
    "None == None",
    "len({1, 2})",
    "10 - 3 - 2",
    "100 // 7 // 2",
    "7 % 4 * 2",
    "+3 - -2",
    "1 <= 2 in [2]",
};
enum { EXPRESSIONS = sizeof expressions / sizeof *expressions };

static void values_are_those_of_python(void **state) {
    (void)state;
    char path[] = "/tmp/evotile-python-XXXXXX", command[128];
    FILE *out = fdopen(mkstemp(path), "w");
    fprintf(out, "import math\n");
    for (int i = 0; i < EXPRESSIONS; i++)
        fprintf(out, "print(int(%s))\n", expressions[i]);
    fclose(out);
    snprintf(command, sizeof command, "python3 %s", path);
    FILE *in = popen(command, "r");
    for (int i = 0; i < EXPRESSIONS; i++) {
        struct python_heap heap = {0};
        struct python_value value;
        struct error error = {0};
        long long expected;
        int64_t number;
        assert_int_equal(fscanf(in, "%lld", &expected), 1);
        struct python *python = python_parse(expressions[i], &error);
        if (python == NULL || python_evaluate(python, NULL, &heap, &value, &error) < 0)
            fail_msg("%s: %s", expressions[i], error.text);
        assert_true(python_whole(&value, &number));
        if (number != expected)
            fail_msg("%s is %lld, not %lld", expressions[i], expected, (long long)number);
        python_heap_clear(&heap);
        python_free(python);
    }
    assert_int_equal(pclose(in), 0);
    remove(path);
}

static void what_is_no_expression_is_an_error(void **state) {
    (void)state;
    static const char *const texts[] = {"",
                                        "1 +",
                                        "(1",
                                        "[1, 2",
                                        "a b",
                                        "x = 1",
                                        "f(1)",
                                        "'a",
                                        "1 if 2",
                                        "for",
                                        "lambda",
                                        "1 is 2",
                                        "99999999999999999999",
                                        "[i for i]"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct error error = {0};
        if (python_parse(texts[i], &error) != NULL)
            fail_msg("parsed: %s", texts[i]);
        assert_int_equal(error.kind, ERROR_INPUT);
    }
}

static void what_has_no_value_or_takes_too_long_is_an_error(void **state) {
    (void)state;
    static const char *const texts[] = {"1 // 0",
                                        "2 ** 64",
                                        "unknown",
                                        "[1][1]",
                                        "1 < 'a'",
                                        "9223372036854775807 + 1",
                                        "max([])",
                                        "len(range(10 ** 9))",
                                        "sum([i for i in range(60000) for j in range(60000)])"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct error error = {0};
        struct python_heap heap = {0};
        struct python_value value;
        struct python *python = python_parse(texts[i], &error);
        assert_non_null(python);
        if (python_evaluate(python, NULL, &heap, &value, &error) == 0)
            fail_msg("has a value: %s", texts[i]);
        python_heap_clear(&heap);
        python_free(python);
    }
    char nested[2001];
    memset(nested, '(', 1000);
    memset(nested + 1000, ')', 1000);
    nested[2000] = '\0';
    struct error error = {0};
    assert_null(python_parse(nested, &error));
    memset(nested, '-', 2000);
    assert_null(python_parse(nested, &error));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_of_python),
        cmocka_unit_test(what_is_no_expression_is_an_error),
        cmocka_unit_test(what_has_no_value_or_takes_too_long_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
