#include "import/python.h"

#include "base/memory.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct parser {
    const char *text, *at;
    struct python *python;
    int depth;
    struct error *error;
};

static struct python_node *parse_choice(struct parser *parser);
static struct python_node *parse_or(struct parser *parser);
static struct python_node *parse_unary(struct parser *parser);

/* ---- tokens ---- */

static struct python_node *fail(struct parser *parser, const char *what) {
    char near[48];
    snprintf(near, sizeof near, "%s", parser->at);
    for (char *c = near; *c != '\0'; c++)
        if (iscntrl((unsigned char)*c))
            *c = ' ';
    error_input(parser->error, "column %d: %s is expected before \"%s\"",
                (int)(parser->at - parser->text) + 1, what, near);
    return NULL;
}

static void skip_blanks(struct parser *parser) {
    while (isspace((unsigned char)*parser->at))
        parser->at++;
}

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* A word must end where it ends, an operator must not go on as a longer one of `not_before`. */
static bool accept(struct parser *parser, const char *token, const char *not_before) {
    skip_blanks(parser);
    const size_t length = strlen(token);
    if (strncmp(parser->at, token, length) != 0)
        return false;
    const char next = parser->at[length];
    if ((is_word(token[0]) && is_word(next)) ||
        (next != '\0' && not_before != NULL && strchr(not_before, next) != NULL))
        return false;
    parser->at += length;
    return true;
}

static struct python_node *new_node(struct parser *parser, enum python_kind kind,
                                    struct python_node *child) {
    struct python_node *node = python_heap_alloc(&parser->python->heap, sizeof *node);
    *node = (struct python_node){.kind = kind, .child = child};
    return node;
}

/* ---- primaries ---- */

static bool read_name(struct parser *parser, char name[PYTHON_NAME_SIZE]) {
    skip_blanks(parser);
    size_t length = 0;
    if (!isalpha((unsigned char)*parser->at) && *parser->at != '_')
        return false;
    while (is_word(parser->at[length]))
        length++;
    if (length >= PYTHON_NAME_SIZE)
        return false;
    memcpy(name, parser->at, length);
    name[length] = '\0';
    parser->at += length;
    return true;
}

static struct python_node *parse_number(struct parser *parser) {
    struct python_node *node = new_node(parser, NODE_CONSTANT, NULL);
    char *end = NULL, *whole = NULL;
    errno = 0;
    const bool hexadecimal = parser->at[0] == '0' && (parser->at[1] == 'x' || parser->at[1] == 'X');
    const long long number = strtoll(parser->at, &whole, hexadecimal ? 16 : 10);
    const bool fits = errno == 0;
    const double real = strtod(parser->at, &end);
    if (whole < end && !hexadecimal) {
        node->value = (struct python_value){.type = PYTHON_FLOAT, .real = real};
        parser->at = end;
    } else {
        if (!fits)
            return fail(parser, "a number of 64 bits");
        node->value = (struct python_value){.type = PYTHON_INT, .number = number};
        parser->at = whole;
    }
    return is_word(*parser->at) ? fail(parser, "an operator") : node;
}

static struct python_node *parse_text(struct parser *parser) {
    const char quote = *parser->at;
    const char *end = strchr(parser->at + 1, quote);
    if (end == NULL || memchr(parser->at, '\\', (size_t)(end - parser->at)) != NULL)
        return fail(parser, "a text without backslashes, and its end,");
    const size_t length = (size_t)(end - parser->at) - 1;
    char *text = python_heap_alloc(&parser->python->heap, length + 1);
    memcpy(text, parser->at + 1, length);
    text[length] = '\0';
    struct python_node *node = new_node(parser, NODE_CONSTANT, NULL);
    node->value = (struct python_value){.type = PYTHON_TEXT, .text = text};
    parser->at = end + 1;
    return node;
}

/* `for NAME in EXPRESSION` and `if EXPRESSION`, behind the element of a comprehension. */
static struct python_node *parse_clauses(struct parser *parser, struct python_node *element) {
    struct python_node **end = &element->next;
    while (true) {
        struct python_node *clause;
        if (accept(parser, "for", NULL)) {
            clause = new_node(parser, NODE_FOR, NULL);
            if (!read_name(parser, clause->name))
                return fail(parser, "a name");
            if (!accept(parser, "in", NULL))
                return fail(parser, "\"in\"");
            clause->child = parse_or(parser);
        } else if (accept(parser, "if", NULL)) {
            clause = new_node(parser, NODE_IF, NULL);
            clause->child = parse_or(parser);
        } else
            break;
        if (clause->child == NULL)
            return NULL;
        *end = clause;
        end = &clause->next;
    }
    return new_node(parser, NODE_COMPREHENSION, element);
}

static bool is_for(struct parser *parser) {
    const char *at = parser->at;
    const bool found = accept(parser, "for", NULL);
    parser->at = at;
    return found;
}

/* Elements up to `close`; a tuple of one without a comma is its element. */
static struct python_node *parse_elements(struct parser *parser, const char *close, bool tuple) {
    struct python_node *list = new_node(parser, NODE_LIST, NULL), **end = &list->child;
    bool comma = true;
    int count = 0;
    while (!accept(parser, close, NULL)) {
        if (!comma)
            return fail(parser, close);
        struct python_node *element = parse_choice(parser);
        if (element == NULL)
            return NULL;
        if (count == 0 && is_for(parser)) {
            struct python_node *all = parse_clauses(parser, element);
            return all == NULL || accept(parser, close, NULL) ? all : fail(parser, close);
        }
        *end = element;
        end = &element->next;
        count++;
        comma = accept(parser, ",", NULL);
    }
    return tuple && count == 1 && !comma ? list->child : list;
}

static struct python_node *parse_named(struct parser *parser) {
    static const struct {
        const char *name;
        struct python_value value;
    } constants[] = {{"True", {.type = PYTHON_BOOL, .number = 1}},
                     {"False", {.type = PYTHON_BOOL, .number = 0}},
                     {"None", {.type = PYTHON_NONE}}};
    static const char *const words[] = {"or", "and", "not", "in",     "if", "else",
                                        "is", "for", "del", "lambda", NULL};
    struct python_node *node = new_node(parser, NODE_NAME, NULL);
    const char *start = parser->at;
    if (!read_name(parser, node->name))
        return fail(parser, "a value");
    for (int i = 0; words[i] != NULL; i++)
        if (strcmp(node->name, words[i]) == 0) {
            parser->at = start;
            return fail(parser, "a value");
        }
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (strcmp(node->name, constants[i].name) == 0) {
            node->kind = NODE_CONSTANT;
            node->value = constants[i].value;
            return node;
        }
    /* math.ceil and the like are the function itself. */
    if (strcmp(node->name, "math") == 0 && accept(parser, ".", NULL) &&
        !read_name(parser, node->name))
        return fail(parser, "a function of math");
    if (!accept(parser, "(", NULL))
        return node;
    bool known = false;
    for (int i = 0; python_functions[i] != NULL; i++)
        known = known || strcmp(node->name, python_functions[i]) == 0;
    if (!known) {
        parser->at = start;
        return fail(parser, "a known function (min, max, abs, len, range, all, any ...)");
    }
    node->kind = NODE_CALL;
    struct python_node *arguments = parse_elements(parser, ")", false);
    if (arguments == NULL)
        return NULL;
    /* A generator is the only argument. */
    node->child = arguments->kind == NODE_LIST ? arguments->child : arguments;
    return node;
}

static struct python_node *parse_primary(struct parser *parser) {
    skip_blanks(parser);
    const char first = *parser->at;
    struct python_node *node;
    if (isdigit((unsigned char)first) || (first == '.' && isdigit((unsigned char)parser->at[1])))
        node = parse_number(parser);
    else if (first == '"' || first == '\'')
        node = parse_text(parser);
    else if (accept(parser, "[", NULL))
        node = parse_elements(parser, "]", false);
    else if (accept(parser, "{", NULL))
        node = parse_elements(parser, "}", false);
    else if (accept(parser, "(", NULL))
        node = parse_elements(parser, ")", true);
    else
        node = parse_named(parser);
    while (node != NULL && accept(parser, "[", NULL)) {
        node->next = parse_choice(parser);
        if (node->next == NULL)
            return NULL;
        if (!accept(parser, "]", NULL))
            return fail(parser, "\"]\"");
        node = new_node(parser, NODE_INDEX, node);
    }
    return node;
}

/* ---- operators, from the tightest ---- */

static struct python_node *parse_power(struct parser *parser) {
    struct python_node *base = parse_primary(parser);
    if (base == NULL || !accept(parser, "**", NULL))
        return base;
    base->next = parse_unary(parser);
    return base->next != NULL ? new_node(parser, NODE_POWER, base) : NULL;
}

/* Everything that nests passes here. */
static struct python_node *parse_unary(struct parser *parser) {
    struct python_node *node = NULL;
    if (++parser->depth > PYTHON_DEPTH_MAX)
        fail(parser, "less nesting");
    else if (accept(parser, "-", NULL))
        node = (node = parse_unary(parser)) != NULL ? new_node(parser, NODE_NEGATE, node) : NULL;
    else if (accept(parser, "+", NULL))
        node = (node = parse_unary(parser)) != NULL ? new_node(parser, NODE_PLUS, node) : NULL;
    else
        node = parse_power(parser);
    parser->depth--;
    return node;
}

/* The operators of one level, tightest last. */
static const struct {
    const char *token, *not_before;
    enum python_kind kind;
    int level;
} operators[] = {
    {"+", NULL, NODE_ADD, 0},    {"-", NULL, NODE_SUBTRACT, 0},  {"//", NULL, NODE_FLOOR_DIVIDE, 1},
    {"/", NULL, NODE_DIVIDE, 1}, {"%", NULL, NODE_REMAINDER, 1}, {"*", "*", NODE_MULTIPLY, 1},
};

static struct python_node *parse_binary(struct parser *parser, int level) {
    struct python_node *left = level == 1 ? parse_unary(parser) : parse_binary(parser, level + 1);
    for (size_t i = 0; left != NULL && i < sizeof operators / sizeof *operators;) {
        if (operators[i].level != level ||
            !accept(parser, operators[i].token, operators[i].not_before)) {
            i++;
            continue;
        }
        left->next = level == 1 ? parse_unary(parser) : parse_binary(parser, level + 1);
        if (left->next == NULL)
            return NULL;
        left = new_node(parser, operators[i].kind, left);
        i = 0;
    }
    return left;
}

static bool accept_comparison(struct parser *parser, enum python_compare *compare) {
    static const struct {
        const char *token;
        enum python_compare compare;
    } tokens[] = {{"<=", COMPARE_LESS_EQUAL}, {">=", COMPARE_GREATER_EQUAL}, {"==", COMPARE_EQUAL},
                  {"!=", COMPARE_NOT_EQUAL},  {"<", COMPARE_LESS},           {">", COMPARE_GREATER},
                  {"in", COMPARE_IN}};
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++)
        if (accept(parser, tokens[i].token, NULL)) {
            *compare = tokens[i].compare;
            return true;
        }
    const char *start = parser->at;
    if (accept(parser, "not", NULL) && accept(parser, "in", NULL)) {
        *compare = COMPARE_NOT_IN;
        return true;
    }
    parser->at = start;
    return false;
}

static struct python_node *parse_comparison(struct parser *parser) {
    struct python_node *first = parse_binary(parser, 0), *last = first;
    enum python_compare compare;
    while (last != NULL && accept_comparison(parser, &compare)) {
        last->next = parse_binary(parser, 0);
        last = last->next;
        if (last != NULL)
            last->compare = compare;
    }
    if (last == NULL)
        return NULL;
    return last != first ? new_node(parser, NODE_COMPARE, first) : first;
}

static struct python_node *parse_not(struct parser *parser) {
    if (!accept(parser, "not", NULL))
        return parse_comparison(parser);
    struct python_node *node = NULL;
    if (++parser->depth > PYTHON_DEPTH_MAX)
        fail(parser, "less nesting");
    else
        node = parse_not(parser);
    parser->depth--;
    return node != NULL ? new_node(parser, NODE_NOT, node) : NULL;
}

static struct python_node *parse_joined(struct parser *parser, const char *word,
                                        enum python_kind kind) {
    struct python_node *first =
        kind == NODE_OR ? parse_joined(parser, "and", NODE_AND) : parse_not(parser);
    struct python_node *last = first;
    while (last != NULL && accept(parser, word, NULL)) {
        last->next = kind == NODE_OR ? parse_joined(parser, "and", NODE_AND) : parse_not(parser);
        last = last->next;
    }
    if (last == NULL)
        return NULL;
    return last != first ? new_node(parser, kind, first) : first;
}

static struct python_node *parse_or(struct parser *parser) {
    return parse_joined(parser, "or", NODE_OR);
}

static struct python_node *parse_choice(struct parser *parser) {
    struct python_node *value = NULL;
    if (++parser->depth > PYTHON_DEPTH_MAX)
        return fail(parser, "less nesting");
    value = parse_or(parser);
    if (value != NULL && accept(parser, "if", NULL)) {
        struct python_node *condition = parse_or(parser);
        if (condition == NULL)
            return NULL;
        if (!accept(parser, "else", NULL))
            return fail(parser, "\"else\"");
        value->next = condition;
        condition->next = parse_choice(parser);
        value = condition->next != NULL ? new_node(parser, NODE_CHOOSE, value) : NULL;
    }
    parser->depth--;
    return value;
}

struct python *python_parse(const char *text, struct error *error) {
    if (strlen(text) > PYTHON_TEXT_MAX) {
        error_input(error, "an expression has at most %d letters", PYTHON_TEXT_MAX);
        return NULL;
    }
    struct python *python = xcalloc(1, sizeof *python);
    python->text = xstrdup(text);
    struct parser parser = {
        .text = python->text, .at = python->text, .python = python, .error = error};
    python->root = parse_choice(&parser);
    skip_blanks(&parser);
    if (python->root != NULL && *parser.at != '\0') {
        fail(&parser, "an operator");
        python->root = NULL;
    }
    if (python->root != NULL)
        return python;
    python_free(python);
    return NULL;
}

void python_free(struct python *python) {
    if (python == NULL)
        return;
    python_heap_clear(&python->heap);
    free(python->text);
    free(python);
}
