#include "space/expression_tree.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct printer {
    const struct expression *expression;
    const struct symbol_table *symbols;
    const struct slots *known;
    const int64_t *values;
    const char *prefix; /* NULL: the language of templates */
    bool python;
    char *text;
    size_t size, length;
};

__attribute__((format(printf, 2, 3))) static void print_text(struct printer *printer,
                                                             const char *format, ...) {
    size_t left = printer->length < printer->size ? printer->size - printer->length : 0;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(left ? printer->text + printer->length : NULL, left, format, arguments);
    va_end(arguments);
    printer->length += (size_t)length;
}

static void print_number(struct printer *printer, int64_t number) {
    /* In C a constant without a suffix is an int, and int arithmetic may overflow. */
    const char *suffix = printer->prefix != NULL && !printer->python ? "LL" : "";
    if (number == INT64_MIN) /* its magnitude does not fit an int64 */
        print_text(printer, "(-%" PRId64 "%s - 1%s)", INT64_MAX, suffix, suffix);
    else if (number < 0)
        print_text(printer, "(%" PRId64 "%s)", number, suffix);
    else
        print_text(printer, "%" PRId64 "%s", number, suffix);
}

static bool folds_to_constant(const struct printer *printer, int index, int64_t *value) {
    static const struct slots none;
    struct fault fault;
    return expression_value(printer->expression, index,
                            printer->known != NULL ? printer->known : &none, printer->values, value,
                            &fault);
}

static void print_node(struct printer *printer, int index, bool outermost);

/* Prints operands with words before, between and after them. */
static void print_words(struct printer *printer, const int16_t *operands, const int *order,
                        const char *const *words) {
    print_text(printer, "%s", *words++);
    for (; *words != NULL; words++) {
        print_node(printer, operands[*order++], false);
        print_text(printer, "%s", *words);
    }
}

/* What Python writes otherwise; returns false for other operators. `and` and `or` give an operand
   there, which may be neither 0 nor 1. */
static bool print_python(struct printer *printer, const struct expression_node *node) {
    static const struct {
        enum op op;
        int order[3];
        const char *words[5];
    } forms[] = {
        {OP_NOT, {0}, {"(not ", ")", NULL}},
        {OP_AND, {0, 1}, {"((", " and ", ") != 0)", NULL}},
        {OP_OR, {0, 1}, {"((", " or ", ") != 0)", NULL}},
        {OP_DIVIDE, {0, 1}, {"(", " // ", ")", NULL}},
        {OP_CHOOSE, {1, 0, 2}, {"(", " if ", " else ", ")", NULL}},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (printer->python && forms[i].op == node->op) {
            print_words(printer, node->operands, forms[i].order, forms[i].words);
            return true;
        }
    return false;
}

/* Nested operators are always bracketed, so that the output reads without knowing the
   precedences. */
static void print_node(struct printer *printer, int index, bool outermost) {
    const struct expression_node *node = &printer->expression->nodes[index];
    const struct operator_spelling *spelling = &spellings[node->op];
    const int16_t *operands = node->operands;
    int64_t value;
    if (folds_to_constant(printer, index, &value)) {
        print_number(printer, value);
        return;
    }
    if (node->op == OP_SLOT) {
        print_text(printer, "%s", printer->symbols->slots[node->number]);
        return;
    }
    if (node->op == OP_CHOOSE && folds_to_constant(printer, operands[0], &value)) {
        print_node(printer, operands[value ? 1 : 2], outermost);
        return;
    }
    if (print_python(printer, node))
        return;
    if (node->op == OP_NEGATE || node->op == OP_NOT) {
        /* The space in "- -a" prevents a decrement operator. */
        print_text(printer, "%s ", spelling->text);
        print_node(printer, operands[0], false);
        return;
    }
    if (spelling->function)
        print_text(printer, "%s%s", printer->prefix != NULL ? printer->prefix : "", spelling->text);
    if (spelling->function || !outermost)
        print_text(printer, "(");
    print_node(printer, operands[0], spelling->function);
    if (node->op == OP_CHOOSE) {
        print_text(printer, " ? ");
        print_node(printer, operands[1], false);
        print_text(printer, " : ");
        print_node(printer, operands[2], false);
    } else if (operands[1] >= 0) {
        if (spelling->function)
            print_text(printer, ", ");
        else
            print_text(printer, " %s ", spelling->text);
        print_node(printer, operands[1], spelling->function);
    }
    if (spelling->function || !outermost)
        print_text(printer, ")");
}

size_t expression_print(const struct expression *expression, const struct symbol_table *symbols,
                        const struct expression_style *style, char *text, size_t size) {
    struct printer printer = {
        .expression = expression, .symbols = symbols, .text = text, .size = size};
    if (style != NULL) {
        printer.known = style->known;
        printer.values = style->values;
        printer.prefix = style->function_prefix;
        printer.python = style->python;
    }
    print_node(&printer, expression->root, true);
    return printer.length;
}

size_t expression_print_functions(const char *function_prefix, char *text, size_t size) {
    static const struct {
        const char *name, *parameters, *body;
    } functions[] = {
        {"min", "int64_t a, int64_t b", "return a < b ? a : b;"},
        {"max", "int64_t a, int64_t b", "return a > b ? a : b;"},
        {"ceil_div", "int64_t a, int64_t b", "return a / b + (a % b != 0 && (a < 0) == (b < 0));"},
        {"log2", "int64_t a",
         "int64_t log = 0;\n    while (a >>= 1)\n        log++;\n    return log;"},
    };
    struct printer printer = {.text = text, .size = size};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        print_text(&printer, "%sstatic inline int64_t %s%s(%s) {\n    %s\n}\n", i ? "\n" : "",
                   function_prefix, functions[i].name, functions[i].parameters, functions[i].body);
    return printer.length;
}
