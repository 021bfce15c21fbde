#include "space/expression_tree.h"

#include "base/error.h"
#include "base/memory.h"

#include <ctype.h>
#include <string.h>

/* If one spelling is a prefix of another, the longer comes first. */
const struct operator_spelling spellings[OP_COUNT] = {
    [OP_NEGATE] = {"-", 0, false},      [OP_NOT] = {"!", 0, false},
    [OP_OR] = {"||", 1, false},         [OP_AND] = {"&&", 2, false},
    [OP_EQUAL] = {"==", 3, false},      [OP_NOT_EQUAL] = {"!=", 3, false},
    [OP_LESS_EQUAL] = {"<=", 4, false}, [OP_GREATER_EQUAL] = {">=", 4, false},
    [OP_LESS] = {"<", 4, false},        [OP_GREATER] = {">", 4, false},
    [OP_ADD] = {"+", 5, false},         [OP_SUBTRACT] = {"-", 5, false},
    [OP_MULTIPLY] = {"*", 6, false},    [OP_DIVIDE] = {"/", 6, false},
    [OP_REMAINDER] = {"%", 6, false},   [OP_MIN] = {"min", 0, true},
    [OP_MAX] = {"max", 0, true},        [OP_CEIL_DIV] = {"ceil_div", 0, true},
    [OP_LOG2] = {"log2", 0, true},
};

const char *const expression_functions[] = {"min", "max", "ceil_div", "log2", NULL};

/* ---- Parsing: recursive descent, and precedence climbing for binary operators. ---- */

/* A tree of maximal depth prints with at most this many nested brackets and signs. */
enum { NESTING_MAX = 4 * EXPRESSION_DEPTH_MAX, WINDOW = 96 };

struct expression_parser {
    const char *text, *at;
    const struct symbol_table *symbols;
    struct expression *expression;
    int count, nesting;
    struct error *error;
};

static int parse_choice(struct expression_parser *parser);

/* Sets the error, with a caret under `at`; returns -1. */
__attribute__((format(printf, 3, 4))) static int
parse_error(struct expression_parser *parser, const char *at, const char *format, ...) {
    char what[256], window[WINDOW + 8];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);

    size_t length = strlen(parser->text), column = (size_t)(at - parser->text);
    size_t start = column > WINDOW * 3 / 4 ? column - WINDOW * 3 / 4 : 0;
    const char *before = start > 0 ? "..." : "";
    snprintf(window, sizeof window, "%s%.*s%s", before, WINDOW, parser->text + start,
             length - start > WINDOW ? "..." : "");
    for (char *c = window; *c; c++)
        if (iscntrl((unsigned char)*c))
            *c = ' ';
    return error_input(parser->error, "column %zu: %s\n    %s\n    %*s^", column + 1, what, window,
                       (int)(strlen(before) + column - start), "");
}

static void skip_spaces(struct expression_parser *parser) {
    while (isspace((unsigned char)*parser->at))
        parser->at++;
}

/* Consumes `text` if it comes next. */
static bool accept_token(struct expression_parser *parser, const char *text) {
    skip_spaces(parser);
    size_t length = strlen(text);
    if (strncmp(parser->at, text, length) != 0)
        return false;
    parser->at += length;
    return true;
}

static int add_node(struct expression_parser *parser, enum op op, const char *at, int a, int b,
                    int c) {
    struct expression_node *nodes = parser->expression->nodes;
    struct expression_node node = {.op = (uint8_t)op,
                                   .column = (uint16_t)(at - parser->text + 1),
                                   .operands = {(int16_t)a, (int16_t)b, (int16_t)c}};
    for (int i = 0; i < 3; i++)
        if (node.operands[i] >= 0 && nodes[node.operands[i]].depth > node.depth)
            node.depth = nodes[node.operands[i]].depth;
    if (node.depth++ == EXPRESSION_DEPTH_MAX)
        return parse_error(parser, at, "more than %d nested operators", EXPRESSION_DEPTH_MAX);
    nodes[parser->count] = node;
    return parser->count++;
}

static int add_leaf(struct expression_parser *parser, enum op op, const char *at, int64_t number) {
    int node = add_node(parser, op, at, -1, -1, -1);
    parser->expression->nodes[node].number = number;
    return node;
}

/* Adds an operator, or its value if that is constant. So a printed negative constant, which
   parses as an operation, becomes a leaf again, and printing and parsing never deepens a tree. */
static int add_operator(struct expression_parser *parser, enum op op, const char *at, int a, int b,
                        int c) {
    static const struct slots none;
    int64_t value;
    struct fault fault;
    int node = add_node(parser, op, at, a, b, c);
    if (node < 0 || !expression_value(parser->expression, node, &none, NULL, &value, &fault))
        return node;
    parser->expression->nodes[node] = (struct expression_node){
        .op = OP_NUMBER, .depth = 1, .operands = {-1, -1, -1}, .number = value};
    return node;
}

static int parse_number(struct expression_parser *parser) {
    const char *start = parser->at;
    int64_t number = 0;
    for (; isdigit((unsigned char)*parser->at); parser->at++)
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, *parser->at - '0', &number))
            return parse_error(parser, start, "the number does not fit in 64 bits");
    if (isalpha((unsigned char)*parser->at) || *parser->at == '_' || *parser->at == '.')
        return parse_error(parser, parser->at, "a number consists of decimal digits");
    return add_leaf(parser, OP_NUMBER, start, number);
}

static int parse_call(struct expression_parser *parser, enum op op, const char *name) {
    int wanted = op == OP_LOG2 ? 1 : 2, count = 0, result = -1;
    do {
        int argument = parse_choice(parser);
        if (argument < 0)
            return -1;
        count++;
        bool joins = count >= 2; /* left fold over the arguments */
        if (op == OP_LOG2 && count == 1)
            result = add_operator(parser, op, name, argument, -1, -1);
        else
            result = joins && result >= 0 ? add_operator(parser, op, name, result, argument, -1)
                                          : argument;
        if (result < 0)
            return -1;
    } while (accept_token(parser, ","));
    bool variadic = op == OP_MIN || op == OP_MAX;
    if (count < wanted || (count > wanted && !variadic))
        return parse_error(parser, name, "%s takes %d argument%s%s, not %d", spellings[op].text,
                           wanted, wanted == 1 ? "" : "s", variadic ? " or more" : "", count);
    if (!accept_token(parser, ")"))
        return parse_error(parser, parser->at, "expected , or )");
    return result;
}

static int parse_name(struct expression_parser *parser) {
    const char *start = parser->at;
    char name[NAME_SIZE] = "";
    size_t length = 0;
    for (; isalnum((unsigned char)*parser->at) || *parser->at == '_'; parser->at++)
        if (length + 1 < sizeof name)
            name[length++] = *parser->at;

    bool call = accept_token(parser, "(");
    for (int op = 0; op < OP_COUNT; op++)
        if (spellings[op].function && strcmp(spellings[op].text, name) == 0)
            return call ? parse_call(parser, (enum op)op, start)
                        : parse_error(parser, start,
                                      "'%s' is a function: write its arguments in ( )", name);
    if (call)
        return parse_error(parser, start,
                           "unknown function '%s'; known are min, max, ceil_div, log2", name);

    int slot = symbol_table_find(parser->symbols, name);
    if (slot >= 0) {
        slots_add(&parser->expression->reads, slot);
        return add_leaf(parser, OP_SLOT, start, slot);
    }
    int label = symbol_table_find_label(parser->symbols, name);
    if (label >= 0)
        return add_leaf(parser, OP_NUMBER, start, label);
    return parse_error(parser, start, "unknown name '%s'; the nearest is '%s'", name,
                       symbol_table_nearest(parser->symbols, name));
}

static int parse_operand(struct expression_parser *parser) {
    skip_spaces(parser);
    const char *start = parser->at;
    if (isdigit((unsigned char)*start))
        return parse_number(parser);
    if (isalpha((unsigned char)*start) || *start == '_')
        return parse_name(parser);
    if (accept_token(parser, "(")) {
        int inner = parse_choice(parser);
        if (inner >= 0 && !accept_token(parser, ")"))
            return parse_error(parser, parser->at, "expected )");
        return inner;
    }
    for (int op = OP_NEGATE; op <= OP_NOT; op++)
        if (accept_token(parser, spellings[op].text)) {
            if (parser->nesting == NESTING_MAX)
                return parse_error(parser, start, "too many nested signs and brackets");
            parser->nesting++;
            int operand = parse_operand(parser);
            parser->nesting--;
            return operand < 0 ? -1 : add_operator(parser, (enum op)op, start, operand, -1, -1);
        }
    return parse_error(parser, start, "expected a number, a name or (");
}

/* The next binary operator, not consumed; or -1. */
static int peek_binary(struct expression_parser *parser) {
    skip_spaces(parser);
    for (int op = 0; op < OP_COUNT; op++)
        if (spellings[op].level > 0 &&
            strncmp(parser->at, spellings[op].text, strlen(spellings[op].text)) == 0)
            return op;
    return -1;
}

static int parse_binary(struct expression_parser *parser, int level) {
    int left = parse_operand(parser);
    while (left >= 0) {
        int op = peek_binary(parser);
        if (op < 0 || spellings[op].level < level)
            break;
        const char *at = parser->at;
        int own_level = spellings[op].level;
        parser->at += strlen(spellings[op].text);
        int right = parse_binary(parser, own_level + 1);
        if (right < 0)
            return -1;
        left = add_operator(parser, (enum op)op, at, left, right, -1);
        int next = left < 0 ? -1 : peek_binary(parser);
        bool compares = op >= OP_EQUAL && op <= OP_GREATER;
        if (compares && next >= 0 && spellings[next].level == own_level)
            return parse_error(parser, parser->at,
                               "comparisons do not chain: write a < b && b < c");
    }
    return left;
}

static int parse_choice(struct expression_parser *parser) {
    if (parser->nesting == NESTING_MAX)
        return parse_error(parser, parser->at, "too many nested signs and brackets");
    parser->nesting++;
    int node = parse_binary(parser, 1);
    const char *at = parser->at;
    if (node >= 0 && accept_token(parser, "?")) {
        int chosen = parse_choice(parser), other = -1;
        if (chosen >= 0 && !accept_token(parser, ":"))
            chosen = parse_error(parser, parser->at, "expected : of ?:");
        if (chosen >= 0)
            other = parse_choice(parser);
        node = other < 0 ? -1 : add_operator(parser, OP_CHOOSE, at, node, chosen, other);
    }
    parser->nesting--;
    return node;
}

static int parse_all(struct expression_parser *parser) {
    int root = parse_choice(parser);
    if (root < 0)
        return -1;
    skip_spaces(parser);
    switch (*parser->at) {
    case '\0':
        return root;
    case '=':
        return parse_error(parser, parser->at, "write == to compare");
    case '&':
    case '|':
        return parse_error(parser, parser->at, "write && or ||");
    default:
        return parse_error(parser, parser->at, "expected an operator");
    }
}

struct expression *expression_parse(const char *text, const struct symbol_table *symbols,
                                    struct error *error) {
    size_t length = strlen(text);
    if (length > EXPRESSION_TEXT_MAX) {
        error_input(error, "an expression has %zu characters; at most %d", length,
                    EXPRESSION_TEXT_MAX);
        return NULL;
    }
    /* Every node takes at least one character of the text. */
    struct expression *expression =
        xcalloc(1, sizeof *expression + (length + 1) * sizeof(struct expression_node));
    expression->text = xstrdup(text);
    struct expression_parser parser = {.text = expression->text,
                                       .at = expression->text,
                                       .symbols = symbols,
                                       .expression = expression,
                                       .error = error};
    expression->root = parse_all(&parser);
    if (expression->root < 0) {
        expression_free(expression);
        return NULL;
    }
    return expression;
}

void expression_free(struct expression *expression) {
    if (expression == NULL)
        return;
    free(expression->text);
    free(expression);
}

const char *expression_text(const struct expression *expression) {
    return expression->text;
}

const struct slots *expression_reads(const struct expression *expression) {
    return &expression->reads;
}

/* ---- Evaluation ---- */

/* Applies a binary operator that evaluates both operands; returns the reason if it cannot, or
   NULL. */
static const char *apply_binary(enum op op, int64_t a, int64_t b, int64_t *result) {
    bool overflow = false;
    switch (op) {
    case OP_EQUAL:
        *result = a == b;
        break;
    case OP_NOT_EQUAL:
        *result = a != b;
        break;
    case OP_LESS_EQUAL:
        *result = a <= b;
        break;
    case OP_GREATER_EQUAL:
        *result = a >= b;
        break;
    case OP_LESS:
        *result = a < b;
        break;
    case OP_GREATER:
        *result = a > b;
        break;
    case OP_ADD:
        overflow = __builtin_add_overflow(a, b, result);
        break;
    case OP_SUBTRACT:
        overflow = __builtin_sub_overflow(a, b, result);
        break;
    case OP_MULTIPLY:
        overflow = __builtin_mul_overflow(a, b, result);
        break;
    case OP_MIN:
        *result = a < b ? a : b;
        break;
    case OP_MAX:
        *result = a > b ? a : b;
        break;
    case OP_DIVIDE:
    case OP_REMAINDER:
    case OP_CEIL_DIV:
        if (b == 0)
            return "division by zero";
        if (a == INT64_MIN && b == -1)
            return "overflow";
        if (op == OP_REMAINDER)
            *result = a % b;
        else
            *result = a / b + (op == OP_CEIL_DIV && a % b != 0 && (a < 0) == (b < 0));
        break;
    default:
        BUG("operator %d is not binary", op);
    }
    return overflow ? "overflow" : NULL;
}

bool expression_value(const struct expression *expression, int index, const struct slots *known,
                      const int64_t *values, int64_t *result, struct fault *fault) {
    const struct expression_node *node = &expression->nodes[index];
    enum op op = (enum op)node->op;
    int64_t a, b;
    if (op == OP_NUMBER) {
        *result = node->number;
        return true;
    }
    if (op == OP_SLOT) {
        if (known != NULL && !slots_has(known, (int)node->number)) {
            *fault = (struct fault){"an unknown value", node->column};
            return false;
        }
        *result = values[node->number];
        return true;
    }
    if (!expression_value(expression, node->operands[0], known, values, &a, fault))
        return false;
    switch (op) {
    case OP_CHOOSE:
        return expression_value(expression, node->operands[a ? 1 : 2], known, values, result,
                                fault);
    case OP_OR:
    case OP_AND:
        if ((a != 0) == (op == OP_AND)) {
            if (!expression_value(expression, node->operands[1], known, values, &a, fault))
                return false;
        }
        *result = a != 0;
        return true;
    case OP_NOT:
        *result = !a;
        return true;
    case OP_NEGATE:
        *fault = (struct fault){"overflow", node->column};
        return !__builtin_sub_overflow(INT64_C(0), a, result);
    case OP_LOG2:
        *fault = (struct fault){"log2 of a number that is not positive", node->column};
        if (a <= 0)
            return false;
        *result = 63 - __builtin_clzll((unsigned long long)a);
        return true;
    default:
        if (!expression_value(expression, node->operands[1], known, values, &b, fault))
            return false;
        fault->what = apply_binary(op, a, b, result);
        fault->column = node->column;
        return fault->what == NULL;
    }
}

bool expression_decide(const struct expression *expression, const struct slots *known,
                       const int64_t *values, int64_t *result) {
    struct fault fault;
    return expression_value(expression, expression->root, known, values, result, &fault);
}

int expression_evaluate(const struct expression *expression, const int64_t *values, int64_t *result,
                        struct error *error) {
    struct fault fault;
    int64_t value;
    if (expression_value(expression, expression->root, NULL, values, &value, &fault)) {
        *result = value;
        return 0;
    }
    if (error != NULL)
        error_input(error, "%s at column %d of '%.400s'", fault.what, fault.column,
                    expression->text);
    return -1;
}
