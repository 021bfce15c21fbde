#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/random.h"
#include "space/expression.h"

static struct symbol_table symbols_of(const char *const *names, int count) {
    struct symbol_table symbols = {0};
    struct error error = {0};
    for (int i = 0; i < count; i++)
        assert_int_equal(symbol_table_add(&symbols, names[i], &error), i);
    assert_int_equal(symbol_table_add_label(&symbols, "none", &error), 0);
    assert_int_equal(symbol_table_add_label(&symbols, "xor", &error), 1);
    return symbols;
}

static const char *const abc[] = {"a", "b", "c"};

static bool evaluate(const char *text, const int64_t *values, int64_t *result,
                     struct error *error) {
    struct symbol_table symbols = symbols_of(abc, 3);
    struct expression *expression = expression_parse(text, &symbols, error);
    bool done = expression != NULL && expression_evaluate(expression, values, result, error) == 0;
    expression_free(expression);
    return done;
}

static int64_t value_of(const char *text, int64_t a, int64_t b, int64_t c) {
    struct error error = {0};
    int64_t result = 0;
    if (!evaluate(text, (int64_t[]){a, b, c}, &result, &error))
        fail_msg("%s: %s", text, error.text);
    return result;
}

static const char *failure_of(const char *text, int64_t a, int64_t b, int64_t c) {
    static struct error error;
    int64_t result;
    error = (struct error){0};
    if (evaluate(text, (int64_t[]){a, b, c}, &result, &error))
        fail_msg("%s is %lld", text, (long long)result);
    assert_int_equal(error.kind, ERROR_INPUT);
    return error.text;
}

/* The compiler evaluates the same text: precedence, grouping and rounding are those of C. */
#pragma GCC diagnostic ignored "-Wparentheses"
#define SAME_IN_C(expression) assert_int_equal(value_of(#expression, a, b, c), expression)

static void agrees_with_c(void **state) {
    (void)state;
    for (int64_t a = -3; a <= 3; a++)
        for (int64_t b = -4; b <= 4; b++)
            for (int64_t c = 1; c <= 3; c++) {
                SAME_IN_C(a + b * c - a % c);
                SAME_IN_C(a - b - c);
                SAME_IN_C(a / c * c + a % c);
                SAME_IN_C(-a - -b);
                SAME_IN_C(!a + !!b);
                SAME_IN_C(a<b == b> a);
                SAME_IN_C(a + 1 <= b * 2 && b != c || a >= c);
                SAME_IN_C(a || b && c - 1);
                SAME_IN_C(a ? b ? 1 : 2 : c ? 3 : 4);
                SAME_IN_C(a > 0 ? b : a < 0 ? c : 7);
                SAME_IN_C((a + b) * (c - (a)) == 0);
                SAME_IN_C(12 / c % 5 - !(a == b));
            }
}

static void functions(void **state) {
    (void)state;
    assert_int_equal(value_of("min(a, b, c)", 4, -2, 3), -2);
    assert_int_equal(value_of("max( a , b , c )", 4, -2, 3), 4);
    for (int64_t a = -20; a <= 20; a++)
        for (int64_t b = -5; b <= 5; b++) {
            if (b == 0)
                continue;
            int64_t least = value_of("ceil_div(a, b)", a, b, 0);
            /* The least q with q >= a/b. */
            assert_true(b > 0 ? least * b >= a : least * b <= a);
            assert_true(b > 0 ? (least - 1) * b < a : (least - 1) * b > a);
        }
    for (int64_t a = 1; a < 5000; a++) {
        int64_t log = value_of("log2(a)", a, 0, 0);
        assert_true((INT64_C(1) << log) <= a && a < (INT64_C(2) << log));
    }
    assert_int_equal(value_of("log2(a)", INT64_MAX, 0, 0), 62);
}

static void logic_evaluates_what_it_needs(void **state) {
    (void)state;
    assert_int_equal(value_of("a != 0 && 8 / a > 2", 0, 0, 0), 0);
    assert_int_equal(value_of("a == 0 || 8 / a > 2", 0, 0, 0), 1);
    assert_int_equal(value_of("a ? 8 / a : 5", 0, 0, 0), 5);
    assert_int_equal(value_of("7 && 9", 0, 0, 0), 1);
    assert_int_equal(value_of("a == xor", 1, 0, 0), 1);
}

static void no_value(void **state) {
    (void)state;
    static const char *const overflows[] = {"a + 1", "b - 1",           "a * 2",
                                            "-b",    "b / (0-1)",       "b % (0 - 1)",
                                            "a - b", "ceil_div(b, -1)", "c * (a + 1)"};
    for (size_t i = 0; i < sizeof overflows / sizeof *overflows; i++)
        assert_non_null(strstr(failure_of(overflows[i], INT64_MAX, INT64_MIN, 0), "overflow"));
    assert_string_equal(failure_of("1 + a / c", 1, 1, 0),
                        "division by zero at column 7 of '1 + a / c'");
    assert_non_null(strstr(failure_of("a % c", 1, 1, 0), "division by zero"));
    assert_non_null(strstr(failure_of("ceil_div(a, c)", 1, 1, 0), "division by zero"));
    assert_non_null(strstr(failure_of("log2(c)", 1, 1, 0), "not positive"));
    assert_non_null(strstr(failure_of("log2(b)", 1, -1, 0), "not positive"));
}

static void errors_point(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int column;
        const char *what;
    } rows[] = {
        {"", 1, "expected a number, a name or ("},
        {"a +", 4, "expected a number, a name or ("},
        {"a + * b", 5, "expected a number, a name or ("},
        {"(a + b", 7, "expected )"},
        {"a b", 3, "expected an operator"},
        {"a = b", 3, "write =="},
        {"a & b", 3, "write &&"},
        {"a < b < c", 7, "do not chain"},
        {"a == b != c", 8, "do not chain"},
        {"a + min", 5, "is a function"},
        {"min(a)", 1, "takes 2 arguments or more, not 1"},
        {"log2(a, b)", 1, "takes 1 argument, not 2"},
        {"ceil_div(a, b, c)", 1, "takes 2 arguments, not 3"},
        {"min(a, b", 9, "expected , or )"},
        {"foo(a)", 1, "unknown function 'foo'"},
        {"a ? b", 6, "expected : of ?:"},
        {"12abc", 3, "decimal digits"},
        {"1.5", 2, "decimal digits"},
        {"a + 9223372036854775808", 5, "64 bits"},
        {"a + xro", 5, "the nearest is 'xor'"},
        {"a $ b", 3, "expected an operator"},
        {"\xc3\xa9", 1, "expected a number, a name or ("},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *text = failure_of(rows[i].text, 0, 0, 0);
        char start[32];
        snprintf(start, sizeof start, "column %d: ", rows[i].column);
        if (strncmp(text, start, strlen(start)) != 0 || strstr(text, rows[i].what) == NULL)
            fail_msg("'%s' gave: %s", rows[i].text, text);
        const char *caret = strrchr(text, '\n');
        assert_int_equal(strlen(caret + 1), 4 + rows[i].column);
    }
    assert_string_equal(failure_of("a\t+ * b", 0, 0, 0),
                        "column 5: expected a number, a name or (\n"
                        "    a + * b\n"
                        "        ^");
}

static void long_text_gets_a_window(void **state) {
    (void)state;
    char text[600];
    for (int i = 0; i < 590; i += 2)
        memcpy(text + i, "- ", 2);
    strcpy(text + 590, "a");
    assert_non_null(strstr(failure_of(text, 0, 0, 0), "more than 128 nested operators"));
    memset(text, ' ', 500);
    strcpy(text + 500, "a + ? + 1");
    const char *error = failure_of(text, 0, 0, 0);
    const char *line = strchr(error, '\n') + 1, *caret = strchr(line, '\n') + 1;
    assert_true(strlen(caret) < 120);
    assert_int_equal(line[strlen(caret) - 1], '?');
}

static void depth_has_a_limit(void **state) {
    (void)state;
    char text[EXPRESSION_TEXT_MAX + 10];
    static const char *const pieces[] = {"(", "!", "-", "1?", "1?1:", "min(1,", "1+(", "1||!("};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        size_t length = strlen(pieces[i]), at = 0;
        for (; at + length < EXPRESSION_TEXT_MAX - 2; at += length)
            memcpy(text + at, pieces[i], length);
        strcpy(text + at, "1");
        assert_non_null(strstr(failure_of(text, 0, 0, 0), "nested"));
    }
    memset(text, '1', EXPRESSION_TEXT_MAX + 1);
    text[EXPRESSION_TEXT_MAX + 1] = '\0';
    assert_non_null(strstr(failure_of(text, 0, 0, 0), "at most 4096"));
}

static void tells_what_it_reads(void **state) {
    (void)state;
    struct symbol_table symbols = symbols_of(abc, 3);
    struct error error = {0};
    struct expression *expression = expression_parse("c + min(a, none) * c", &symbols, &error);
    assert_true(slots_has(expression_reads(expression), 0));
    assert_false(slots_has(expression_reads(expression), 1));
    assert_true(slots_has(expression_reads(expression), 2));
    assert_string_equal(expression_text(expression), "c + min(a, none) * c");
    expression_free(expression);
}

/* ---- Random expressions, checked by an independent evaluator ---- */

struct outcome_of {
    bool has_value;
    __int128 value;
};

static struct outcome_of limited(bool has_value, __int128 value) {
    return (struct outcome_of){has_value && value >= INT64_MIN && value <= INT64_MAX, value};
}

/* Appends a fully bracketed random expression to `text` and returns its value. */
static struct outcome_of generate(struct random *random, int depth, const int64_t *values,
                                  char *text) {
    static const char *const binary[] = {
        "+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "||"};
    struct outcome_of a, b, c, none = {false, 0};
    int kind = depth == 0 ? (int)random_below(random, 2) : 1 + (int)random_below(random, 7);
    switch (kind) {
    case 0: {
        int64_t number = (int64_t)(random_next(random) >> (1 + random_below(random, 63)));
        sprintf(text + strlen(text), "%lld", (long long)number);
        return limited(true, number);
    }
    case 1: {
        int slot = (int)random_below(random, 3);
        strcat(text, abc[slot]);
        return limited(true, values[slot]);
    }
    case 2: {
        bool negate = random_below(random, 2);
        strcat(text, negate ? "-(" : "!(");
        a = generate(random, depth - 1, values, text);
        strcat(text, ")");
        return negate ? limited(a.has_value, -a.value) : limited(a.has_value, !a.value);
    }
    case 3:
        strcat(text, "(");
        a = generate(random, depth - 1, values, text);
        strcat(text, "?");
        b = generate(random, depth - 1, values, text);
        strcat(text, ":");
        c = generate(random, depth - 1, values, text);
        strcat(text, ")");
        return !a.has_value ? none : a.value ? b : c;
    case 4: {
        bool least = random_below(random, 2);
        strcat(text, least ? "min(" : "max(");
        a = generate(random, depth - 1, values, text);
        strcat(text, ",");
        b = generate(random, depth - 1, values, text);
        strcat(text, ")");
        return limited(a.has_value && b.has_value,
                       (a.value < b.value) == least ? a.value : b.value);
    }
    case 5: {
        bool log = random_below(random, 2);
        strcat(text, log ? "log2(" : "ceil_div(");
        a = generate(random, depth - 1, values, text);
        if (log) {
            strcat(text, ")");
            if (!a.has_value || a.value <= 0)
                return none;
            __int128 exponent = 0;
            while (a.value >>= 1)
                exponent++;
            return limited(true, exponent);
        }
        strcat(text, ",");
        b = generate(random, depth - 1, values, text);
        strcat(text, ")");
        if (!a.has_value || !b.has_value || b.value == 0)
            return none;
        __int128 quotient = a.value / b.value;
        if (quotient * b.value != a.value && (a.value > 0) == (b.value > 0))
            quotient++;
        return limited(true, quotient);
    }
    default: {
        int op = (int)random_below(random, 13);
        strcat(text, "(");
        a = generate(random, depth - 1, values, text);
        strcat(text, binary[op]);
        b = generate(random, depth - 1, values, text);
        strcat(text, ")");
        if (!a.has_value)
            return none;
        if (op == 11 && !a.value)
            return limited(true, 0);
        if (op == 12 && a.value)
            return limited(true, 1);
        if (!b.has_value || ((op == 3 || op == 4) && b.value == 0))
            return none;
        if (op == 4 && a.value == INT64_MIN && b.value == -1)
            return none;
        __int128 x = a.value, y = b.value;
        switch (op) {
        case 0:
            return limited(true, x + y);
        case 1:
            return limited(true, x - y);
        case 2:
            return limited(true, x * y);
        case 3:
            return limited(true, x / y);
        case 4:
            return limited(true, x % y);
        case 5:
            return limited(true, x == y);
        case 6:
            return limited(true, x != y);
        case 7:
            return limited(true, x < y);
        case 8:
            return limited(true, x <= y);
        case 9:
            return limited(true, x > y);
        case 10:
            return limited(true, x >= y);
        default:
            return limited(true, y != 0);
        }
    }
    }
}

static void draw_values(struct random *random, int64_t values[3]) {
    for (int i = 0; i < 3; i++)
        values[i] = (int64_t)random_next(random) >> random_below(random, 64);
}

static void expect(const struct expression *expression, const int64_t *values,
                   struct outcome_of expected, const char *text) {
    int64_t value;
    struct error error = {0};
    bool has_value = expression_evaluate(expression, values, &value, &error) == 0;
    if (has_value != expected.has_value || (has_value && value != expected.value))
        fail_msg("%s with a=%lld b=%lld c=%lld", text, (long long)values[0], (long long)values[1],
                 (long long)values[2]);
}

/* Removes every "fn_" and "LL" from printed C, which leaves the plain language. */
static void plain_from_c(char *text) {
    char *to = text;
    for (const char *from = text; *from;) {
        if (strncmp(from, "fn_", 3) == 0)
            from += 3;
        else if (strncmp(from, "LL", 2) == 0)
            from += 2;
        else
            *to++ = *from++;
    }
    *to = '\0';
}

static void random_ones_agree_with_another_evaluator(void **state) {
    (void)state;
    static char text[1 << 16], printed[1 << 16];
    struct symbol_table symbols = symbols_of(abc, 3);
    struct random random;
    int with_value = 0;
    random_seed(&random, 1, 0);
    for (int i = 0; i < 20000; i++) {
        int64_t values[3];
        struct error error = {0};
        draw_values(&random, values);
        *text = '\0';
        struct outcome_of expected = generate(&random, (int)random_below(&random, 5), values, text);
        if (strlen(text) > EXPRESSION_TEXT_MAX / 3)
            continue;
        struct expression *expression = expression_parse(text, &symbols, &error);
        if (expression == NULL)
            fail_msg("%s", error.text);
        expect(expression, values, expected, text);
        with_value += expected.has_value;

        /* Printing (plainly, with some slots known, and in C) and parsing gives the same values. */
        struct slots known = {{random_below(&random, 8)}};
        struct expression_style styles[] = {
            {0}, {.known = &known, .values = values}, {&known, values, "fn_", false}};
        for (int s = 0; s < 3; s++) {
            size_t length =
                expression_print(expression, &symbols, &styles[s], printed, sizeof printed);
            assert_int_equal(length, strlen(printed));
            assert_int_equal(expression_print(expression, &symbols, &styles[s], NULL, 0), length);
            plain_from_c(printed);
            struct expression *again = expression_parse(printed, &symbols, &error);
            if (again == NULL)
                fail_msg("%s printed as %s: %s", text, printed, error.text);
            expect(again, values, expected, printed);
            for (int slot = 0; s > 0 && slot < 3; slot++)
                if (slots_has(&known, slot) && slots_has(expression_reads(again), slot))
                    fail_msg("%s printed as %s, though %s is known", text, printed, abc[slot]);
            expression_free(again);
        }
        expression_free(expression);
    }
    assert_true(with_value > 5000);
}

/* Python computes the same from what is printed for it, of numbers that are not negative. */
static void prints_python(void **state) {
    static char text[1 << 16], printed[1 << 16];
    struct symbol_table symbols = symbols_of(abc, 3);
    struct random random;
    int count = 0;
    (void)state;
    FILE *python = popen("python3 -c 'import sys; _min = min; _max = max\n"
                         "_log2 = lambda a: a.bit_length() - 1\n"
                         "_ceil_div = lambda a, b: -(-a // b)\n"
                         "for line in sys.stdin:\n"
                         "    code, *values = line.rsplit(\"|\", 4)\n"
                         "    a, b, c, value = map(int, values)\n"
                         "    if int(eval(code)) != value:\n"
                         "        sys.exit(line)'",
                         "w");
    assert_non_null(python);
    random_seed(&random, 2, 0);
    for (int i = 0; i < 20000; i++) {
        int64_t values[3];
        struct error error = {0};
        for (int v = 0; v < 3; v++)
            values[v] = (int64_t)(random_next(&random) >> (40 + random_below(&random, 24)));
        *text = '\0';
        struct outcome_of expected = generate(&random, (int)random_below(&random, 5), values, text);
        if (strlen(text) > EXPRESSION_TEXT_MAX / 3 || strchr(text, '-') != NULL ||
            !expected.has_value)
            continue;
        struct expression *expression = expression_parse(text, &symbols, &error);
        assert_non_null(expression);
        const struct slots known = {{random_below(&random, 8)}};
        const struct expression_style style = {&known, values, "_", true};
        expression_print(expression, &symbols, &style, printed, sizeof printed);
        fprintf(python, "%s|%lld|%lld|%lld|%lld\n", printed, (long long)values[0],
                (long long)values[1], (long long)values[2], (long long)expected.value);
        expression_free(expression);
        count++;
    }
    assert_int_equal(pclose(python), 0);
    assert_true(count > 2000);
}

static void prints_c(void **state) {
    (void)state;
    struct symbol_table symbols = symbols_of(abc, 3);
    struct error error = {0};
    char text[256];
    struct slots known = {0};
    int64_t values[3] = {0, 64, -1};
    slots_add(&known, 1);
    slots_add(&known, 2);
    static const struct {
        const char *from, *to;
    } rows[] = {
        {"ceil_div(a, b) * 2", "fn_ceil_div(a, 64LL) * 2LL"},
        {"min(a, b, 3)", "fn_min(fn_min(a, 64LL), 3LL)"},
        {"c == none ? a : b * 2", "128LL"},
        {"a - c", "a - (-1LL)"},
        {"- -a", "- - a"},
        {"b / 0 + a", "(64LL / 0LL) + a"},
        {"a < 3 && !a", "(a < 3LL) && ! a"},
        {"c - 9223372036854775807", "(-9223372036854775807LL - 1LL)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct expression *expression = expression_parse(rows[i].from, &symbols, &error);
        assert_non_null(expression);
        expression_print(expression, &symbols,
                         &(struct expression_style){&known, values, "fn_", false}, text,
                         sizeof text);
        assert_string_equal(text, rows[i].to);
        expression_free(expression);
    }
    char functions[2048];
    assert_true(expression_print_functions("fn_", functions, sizeof functions) < sizeof functions);
    assert_non_null(strstr(functions, "static inline int64_t fn_ceil_div(int64_t a, int64_t b)"));
}

/* A constant that takes three nodes to write, at maximal depth. */
static void printing_adds_no_depth(void **state) {
    (void)state;
    struct symbol_table symbols = symbols_of(abc, 3);
    struct error error = {0};
    char text[300] = "", printed[1024];
    int64_t values[3] = {INT64_MIN, 1, 0};
    struct slots known = {{1}};
    for (int i = 1; i < EXPRESSION_DEPTH_MAX; i++)
        text[i - 1] = i % 2 ? '!' : '-';
    strcat(text, "b");
    for (int i = 0; i < 2; i++) {
        struct expression *expression = expression_parse(text, &symbols, &error);
        assert_non_null(expression);
        expression_print(expression, &symbols,
                         &(struct expression_style){&known, values, NULL, false}, printed,
                         sizeof printed);
        struct expression *again = expression_parse(printed, &symbols, &error);
        assert_non_null(again);
        expression_free(again);
        expression_free(expression);
        memset(text, '\0', sizeof text);
        for (int j = 0; j < EXPRESSION_DEPTH_MAX - 1; j++)
            strcat(text, j ? "-b" : "a-b");
    }
}

static void names_are_checked(void **state) {
    (void)state;
    struct symbol_table symbols = symbols_of(abc, 3);
    struct error error = {0};
    static const char *const refused[] = {"", "2x", "a b", "a", "xor", "min", "log2", "x-y"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_int_equal(symbol_table_add(&symbols, refused[i], &error), -1);
    assert_int_equal(symbol_table_add_label(&symbols, "a", &error), -1);
    assert_int_equal(symbol_table_add_label(&symbols, "max", &error), -1);
    assert_int_equal(symbol_table_add_label(&symbols, "", &error), -1);
    assert_int_equal(symbol_table_add_label(&symbols, "xor", &error), 1);
    assert_int_equal(symbol_table_add_label(&symbols, "16x8", &error), 2);
    assert_int_equal(symbol_table_find(&symbols, "b"), 1);
    assert_int_equal(symbol_table_find(&symbols, "xor"), -1);
    assert_int_equal(symbol_table_find_label(&symbols, "xor"), 1);
    char name[NAME_SIZE + 1];
    memset(name, 'n', sizeof name);
    name[NAME_SIZE] = '\0';
    assert_int_equal(symbol_table_add(&symbols, name, &error), -1);
    while (symbols.slot_count < SLOTS_MAX) {
        snprintf(name, sizeof name, "n%d", symbols.slot_count);
        assert_true(symbol_table_add(&symbols, name, &error) >= 0);
    }
    assert_int_equal(symbol_table_add(&symbols, "last", &error), -1);
    assert_non_null(strstr(error.text, "one name too many"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_c),
        cmocka_unit_test(functions),
        cmocka_unit_test(logic_evaluates_what_it_needs),
        cmocka_unit_test(no_value),
        cmocka_unit_test(errors_point),
        cmocka_unit_test(long_text_gets_a_window),
        cmocka_unit_test(depth_has_a_limit),
        cmocka_unit_test(tells_what_it_reads),
        cmocka_unit_test(random_ones_agree_with_another_evaluator),
        cmocka_unit_test(prints_python),
        cmocka_unit_test(prints_c),
        cmocka_unit_test(printing_adds_no_depth),
        cmocka_unit_test(names_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
