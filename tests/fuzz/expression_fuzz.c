/*
 * Any text: it is parsed or rejected; if it is parsed, printing and parsing it again gives an
 * expression with the same value, also with some slots printed as constants. The first bytes are
 * the values.
 */
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "space/expression.h"

enum { SLOTS = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void same(const struct expression *a, const struct expression *b, const int64_t *values) {
    int64_t of_a = 0, of_b = 0;
    struct error error = {0};
    int result = expression_evaluate(a, values, &of_a, &error);
    if (result != expression_evaluate(b, values, &of_b, NULL) || of_a != of_b)
        BUG("'%s' is not '%s'", expression_text(a), expression_text(b));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char text[EXPRESSION_TEXT_MAX + 2], printed[1 << 16];
    static const char *const names[SLOTS] = {"a", "bb", "BLOCK_M"};
    struct symbol_table symbols = {0};
    struct error error = {0};
    int64_t values[SLOTS] = {0};
    struct slots known = {0};
    for (int i = 0; i < SLOTS; i++)
        symbol_table_add(&symbols, names[i], &error);
    symbol_table_add_label(&symbols, "xor", &error);

    if (size < 2 * SLOTS + 1 || size - 2 * SLOTS - 1 >= sizeof text)
        return 0;
    known.words[0] = *data++ % (1 << SLOTS);
    for (int i = 0; i < SLOTS; i++, data += 2) /* small values, and values near the 64-bit limits */
        values[i] = (int64_t)((uint64_t)(int8_t)data[0] << (data[1] % 64));
    size -= 2 * SLOTS + 1;
    memcpy(text, data, size);
    text[size] = '\0';

    struct expression *expression = expression_parse(text, &symbols, &error);
    if (!expression)
        return 0;
    struct expression_style styles[] = {{0}, {.known = &known, .values = values}};
    for (int i = 0; i < 2; i++) {
        if (expression_print(expression, &symbols, &styles[i], printed, sizeof printed) >
            EXPRESSION_TEXT_MAX)
            continue;
        struct expression *again = expression_parse(printed, &symbols, &error);
        if (!again)
            BUG("'%s' printed as '%s': %s", text, printed, error.text);
        same(expression, again, values);
        expression_free(again);
    }
    expression_free(expression);
    return 0;
}
