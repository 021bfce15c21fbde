#include "import/put.h"

#include "base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POWER_MAX = 16, TERMS_MAX = 512 };

static bool refuse(struct put *put, const char *why) {
    if (put->why == NULL)
        put->why = why;
    return false;
}

static void join_range(const struct import_texts *texts, int from, int to, const char *op,
                       struct strbuf *text) {
    if (to - from == 1) {
        strbuf_print(text, "%s", texts->items[from]);
        return;
    }
    const int middle = from + (to - from) / 2;
    strbuf_print(text, "(");
    join_range(texts, from, middle, op, text);
    strbuf_print(text, " %s ", op);
    join_range(texts, middle, to, op, text);
    strbuf_print(text, ")");
}

void put_joined(const struct import_texts *texts, const char *op, const char *of_none,
                struct strbuf *text) {
    if (texts->count == 0)
        strbuf_print(text, "%s", of_none);
    else
        join_range(texts, 0, texts->count, op, text);
}

static const struct import_parameter *find_parameter(const struct put *put, const char *name,
                                                     const struct python_scope *scope) {
    for (; scope != NULL; scope = scope->outer)
        if (strcmp(scope->name, name) == 0)
            return NULL;
    for (int i = 0; i < put->space->count; i++)
        if (strcmp(put->space->parameters[i].original, name) == 0)
            return &put->space->parameters[i];
    return NULL;
}

/* Whether its value is the same for all genomes. */
static bool is_constant(const struct put *put, const struct python_node *node,
                        const struct python_scope *scope) {
    for (int i = 0; i < put->space->count; i++) {
        const char *name = put->space->parameters[i].original;
        if (find_parameter(put, name, scope) != NULL && python_reads(node, name))
            return false;
    }
    return true;
}

static bool find_constant(struct put *put, const struct python_node *node,
                          const struct python_scope *scope, struct python_value *value) {
    struct error ignored = {0};
    return is_constant(put, node, scope) &&
           python_evaluate_node(node, scope, &put->heap, value, &ignored) == 0;
}

static bool put_value(struct put *put, const struct python_value *value, bool truth,
                      struct strbuf *text) {
    int64_t number;
    if (truth)
        strbuf_print(text, "%d", python_is_true(value));
    else if (python_whole(value, &number) && number != INT64_MIN)
        strbuf_print(text, number < 0 ? "(-%" PRId64 ")" : "%" PRId64,
                     number < 0 ? -number : number);
    else
        return refuse(put, "it computes with a number that is not whole, a text or a list");
    return true;
}

/* ---- comparisons ---- */

/* `PARAMETER == VALUE` of a parameter that has words. */
static bool put_word_test(const struct import_parameter *parameter,
                          const struct python_value *value, struct strbuf *text) {
    for (int i = 0; i < parameter->count; i++)
        if (python_equal(&parameter->values[i], value)) {
            strbuf_print(text, "(%s == %s)", parameter->name, parameter->labels[i]);
            return true;
        }
    strbuf_print(text, "0");
    return true;
}

static bool put_equal(struct put *put, const struct python_node *left,
                      const struct python_node *right, const struct python_scope *scope,
                      struct strbuf *text) {
    struct python_value value;
    for (int turn = 0; turn < 2; turn++) {
        const struct python_node *name = turn == 0 ? left : right,
                                 *other = turn == 0 ? right : left;
        const struct import_parameter *parameter =
            name->kind == NODE_NAME ? find_parameter(put, name->name, scope) : NULL;
        if (!find_constant(put, other, scope, &value))
            continue;
        if (parameter != NULL && parameter->words)
            return put_word_test(parameter, &value, text);
        int64_t whole;
        if (!is_constant(put, name, scope) && !python_whole(&value, &whole)) {
            strbuf_print(text, "0"); /* numbers are whole */
            return true;
        }
    }
    strbuf_print(text, "(");
    if (!put_node(put, left, scope, false, text))
        return false;
    strbuf_print(text, " == ");
    if (!put_node(put, right, scope, false, text))
        return false;
    strbuf_print(text, ")");
    return true;
}

/* x in range(a, b, c), without its numbers. */
static bool put_in_range(struct put *put, const struct python_node *item,
                         const struct python_node *range, const struct python_scope *scope,
                         struct strbuf *text) {
    const struct python_node *from = range->child, *to = from != NULL ? from->next : NULL;
    const struct python_node *step = to != NULL ? to->next : NULL;
    struct python_value value = {.type = PYTHON_INT, .number = 1};
    struct strbuf x = {0}, a = {0}, b = {0};
    bool good = from != NULL && (step == NULL || find_constant(put, step, scope, &value)) &&
                value.type == PYTHON_INT && value.number > 0 &&
                put_node(put, item, scope, false, &x) &&
                put_node(put, from, scope, false, to != NULL ? &a : &b) &&
                (to == NULL || put_node(put, to, scope, false, &b));
    if (good && to == NULL)
        strbuf_print(&a, "0");
    if (good)
        strbuf_print(text, "(%s >= %s && %s < %s", x.bytes, a.bytes, x.bytes, b.bytes);
    if (good && value.number > 1)
        strbuf_print(text, " && (%s - %s) %% %" PRId64 " == 0", x.bytes, a.bytes, value.number);
    if (good)
        strbuf_print(text, ")");
    strbuf_release(&x);
    strbuf_release(&a);
    strbuf_release(&b);
    return good || refuse(put, "it asks for a range whose step is no positive constant");
}

/* The elements of a list or a comprehension over constants, each written by `put_element`. */
struct elements {
    struct put *put;
    const struct python_node *item; /* for `in`: each element is compared with it */
    bool truth;
    struct import_texts texts;
};

static bool add_element(struct elements *elements, const struct python_node *node,
                        const struct python_scope *scope) {
    struct strbuf text = {0};
    bool good =
        elements->texts.count < TERMS_MAX &&
        (elements->item != NULL ? put_equal(elements->put, elements->item, node, scope, &text)
                                : put_node(elements->put, node, scope, elements->truth, &text));
    if (good)
        import_texts_add(&elements->texts, "%s", text.bytes);
    strbuf_release(&text);
    return good || refuse(elements->put, "it has a list that is too long");
}

static bool add_clauses(struct elements *elements, const struct python_node *element,
                        const struct python_node *clause, const struct python_scope *scope) {
    struct python_value value;
    if (clause == NULL)
        return add_element(elements, element, scope);
    if (!find_constant(elements->put, clause->child, scope, &value))
        return refuse(elements->put, "it has a comprehension over parameters");
    if (clause->kind == NODE_IF)
        return !python_is_true(&value) || add_clauses(elements, element, clause->next, scope);
    for (int i = 0; value.type == PYTHON_LIST && i < value.count; i++) {
        const struct python_scope inner = {
            .name = clause->name, .value = value.items[i], .outer = scope};
        if (!add_clauses(elements, element, clause->next, &inner))
            return false;
    }
    return value.type == PYTHON_LIST;
}

static bool add_elements(struct elements *elements, const struct python_node *list,
                         const struct python_scope *scope) {
    struct python_value value;
    if (list->kind == NODE_COMPREHENSION)
        return add_clauses(elements, list->child, list->child->next, scope);
    if (list->kind == NODE_LIST) {
        for (const struct python_node *node = list->child; node != NULL; node = node->next)
            if (!add_element(elements, node, scope))
                return false;
        return true;
    }
    if (!find_constant(elements->put, list, scope, &value) || value.type != PYTHON_LIST)
        return refuse(elements->put, "it has a list that depends on parameters");
    for (int i = 0; i < value.count; i++) {
        const struct python_node constant = {.kind = NODE_CONSTANT, .value = value.items[i]};
        if (!add_element(elements, &constant, scope))
            return false;
    }
    return true;
}

static bool put_in(struct put *put, const struct python_node *item, const struct python_node *list,
                   const struct python_scope *scope, struct strbuf *text) {
    struct elements elements = {.put = put, .item = item};
    if (list->kind == NODE_CALL && strcmp(list->name, "range") == 0)
        return put_in_range(put, item, list, scope, text);
    bool good = add_elements(&elements, list, scope);
    if (good)
        put_joined(&elements.texts, "||", "0", text);
    import_texts_release(&elements.texts);
    return good;
}

static bool put_comparison(struct put *put, const struct python_node *left,
                           const struct python_node *right, const struct python_scope *scope,
                           struct strbuf *text) {
    static const char *const spelled[] = {[COMPARE_LESS] = "<",
                                          [COMPARE_LESS_EQUAL] = "<=",
                                          [COMPARE_GREATER] = ">",
                                          [COMPARE_GREATER_EQUAL] = ">="};
    const bool inverted = right->compare == COMPARE_NOT_EQUAL || right->compare == COMPARE_NOT_IN;
    if (inverted)
        strbuf_print(text, "!");
    if (right->compare == COMPARE_EQUAL || right->compare == COMPARE_NOT_EQUAL)
        return put_equal(put, left, right, scope, text);
    if (right->compare == COMPARE_IN || right->compare == COMPARE_NOT_IN) {
        strbuf_print(text, "(");
        if (!put_in(put, left, right, scope, text))
            return false;
        strbuf_print(text, ")");
        return true;
    }
    strbuf_print(text, "(");
    if (!put_node(put, left, scope, false, text))
        return false;
    strbuf_print(text, " %s ", spelled[right->compare]);
    if (!put_node(put, right, scope, false, text))
        return false;
    strbuf_print(text, ")");
    return true;
}

static bool put_chain(struct put *put, const struct python_node *node,
                      const struct python_scope *scope, struct strbuf *text) {
    strbuf_print(text, "(");
    for (const struct python_node *left = node->child; left->next != NULL; left = left->next) {
        if (left != node->child)
            strbuf_print(text, " && ");
        if (!put_comparison(put, left, left->next, scope, text))
            return false;
    }
    strbuf_print(text, ")");
    return true;
}

/* ---- the other nodes ---- */

/* `and` and `or` as conditions; as values they give one of their operands. */
static bool put_logic(struct put *put, const struct python_node *node,
                      const struct python_scope *scope, bool truth, struct strbuf *text) {
    const bool is_and = node->kind == NODE_AND;
    struct import_texts operands = {0};
    bool good = true;
    for (const struct python_node *child = node->child; child != NULL && good;
         child = child->next) {
        struct strbuf one = {0};
        good = put_node(put, child, scope, truth, &one);
        if (good)
            import_texts_add(&operands, "%s", one.bytes);
        strbuf_release(&one);
    }
    if (good && truth)
        put_joined(&operands, is_and ? "&&" : "||", "1", text);
    for (int i = 0; good && !truth && i + 1 < operands.count; i++)
        strbuf_print(text, is_and ? "(%s == 0 ? %s : " : "(%s != 0 ? %s : ", operands.items[i],
                     operands.items[i]);
    if (good && !truth)
        strbuf_print(text, "%s", operands.items[operands.count - 1]);
    for (int i = 0; good && !truth && i + 1 < operands.count; i++)
        strbuf_print(text, ")");
    import_texts_release(&operands);
    return good;
}

/* By a constant: a product. By a parameter: one product for each of its values. */
static bool put_power(struct put *put, const struct python_node *node,
                      const struct python_scope *scope, struct strbuf *text) {
    const struct python_node *exponent = node->child->next;
    const struct import_parameter *parameter =
        exponent->kind == NODE_NAME ? find_parameter(put, exponent->name, scope) : NULL;
    struct strbuf base = {0};
    struct python_value value;
    int64_t number = 0;
    int cases = 1;
    if (find_constant(put, exponent, scope, &value)) {
        if (!python_whole(&value, &number))
            return refuse(put, "it has a power that is not whole");
    } else if (parameter == NULL || parameter->words)
        return refuse(put, "it has a power whose exponent is computed");
    else
        cases = parameter->count;
    bool good = put_node(put, node->child, scope, false, &base);
    for (int i = 0; i < cases && good; i++) {
        if (parameter != NULL)
            number = parameter->values[i].number;
        good = number >= 0 && number <= 4 * POWER_MAX;
        if (parameter != NULL && i + 1 < cases)
            strbuf_print(text, "(%s == %" PRId64 " ? ", parameter->name, number);
        struct python_value of_constant, exponent_value = {.type = PYTHON_INT, .number = number};
        struct python_node constant = {.kind = NODE_CONSTANT, .value = exponent_value};
        if (good && find_constant(put, node->child, scope, &of_constant)) {
            struct python_node first = {
                .kind = NODE_CONSTANT, .value = of_constant, .next = &constant};
            const struct python_node power = {.kind = NODE_POWER, .child = &first};
            good = find_constant(put, &power, scope, &of_constant) &&
                   put_value(put, &of_constant, false, text);
        } else if (good && number == 0)
            strbuf_print(text, "1");
        else if (good && number <= POWER_MAX) {
            strbuf_print(text, "(");
            for (int64_t k = 0; k < number; k++)
                strbuf_print(text, "%s%s", k > 0 ? " * " : "", base.bytes);
            strbuf_print(text, ")");
        } else
            good = false;
        if (parameter != NULL && i + 1 < cases)
            strbuf_print(text, " : ");
    }
    for (int i = 0; i + 1 < cases; i++)
        strbuf_print(text, ")");
    strbuf_release(&base);
    return good || refuse(put, "it has a power that is negative or too large");
}

static bool put_binary(struct put *put, const struct python_node *node, const char *op,
                       const struct python_scope *scope, struct strbuf *text) {
    strbuf_print(text, "(");
    if (!put_node(put, node->child, scope, false, text))
        return false;
    strbuf_print(text, " %s ", op);
    if (!put_node(put, node->child->next, scope, false, text))
        return false;
    strbuf_print(text, ")");
    return true;
}

/* a / b where it is rounded at once. */
static bool put_quotient(struct put *put, const struct python_node *node, bool up,
                         const struct python_scope *scope, struct strbuf *text) {
    if (node->kind != NODE_DIVIDE)
        return put_node(put, node, scope, false, text);
    if (!up)
        return put_binary(put, node, "/", scope, text);
    strbuf_print(text, "ceil_div(");
    if (!put_node(put, node->child, scope, false, text))
        return false;
    strbuf_print(text, ", ");
    if (!put_node(put, node->child->next, scope, false, text))
        return false;
    strbuf_print(text, ")");
    return true;
}

static bool put_extreme(struct put *put, const struct elements *elements, const char *name,
                        struct strbuf *text) {
    if (elements->texts.count == 0)
        return refuse(put, "it asks for an extreme of nothing");
    if (elements->texts.count == 1) {
        strbuf_print(text, "%s", elements->texts.items[0]);
        return true;
    }
    strbuf_print(text, "%s(", name);
    for (int i = 0; i < elements->texts.count; i++)
        strbuf_print(text, "%s%s", i > 0 ? ", " : "", elements->texts.items[i]);
    strbuf_print(text, ")");
    return true;
}

static bool put_call(struct put *put, const struct python_node *node,
                     const struct python_scope *scope, bool truth, struct strbuf *text) {
    const struct python_node *argument = node->child;
    const char *name = node->name;
    const bool all = strcmp(name, "all") == 0, any = strcmp(name, "any") == 0;
    const bool extreme = strcmp(name, "min") == 0 || strcmp(name, "max") == 0;
    if (argument == NULL)
        return refuse(put, "it calls a function without an argument");
    if (all || any || extreme || strcmp(name, "sum") == 0 || strcmp(name, "len") == 0) {
        struct elements elements = {.put = put, .truth = all || any};
        const struct python_node several = {.kind = NODE_LIST, .child = node->child};
        bool good =
            add_elements(&elements, extreme && argument->next != NULL ? &several : argument, scope);
        if (good && strcmp(name, "len") == 0)
            strbuf_print(text, "%d", elements.texts.count);
        else if (good && extreme)
            good = put_extreme(put, &elements, name, text);
        else if (good)
            put_joined(&elements.texts, all ? "&&" : any ? "||" : "+", all ? "1" : "0", text);
        import_texts_release(&elements.texts);
        return good;
    }
    if (strcmp(name, "bool") == 0)
        return put_node(put, argument, scope, truth, text);
    if (strcmp(name, "ceil") == 0 || strcmp(name, "int") == 0 || strcmp(name, "floor") == 0)
        return put_quotient(put, argument, strcmp(name, "ceil") == 0, scope, text);
    if (strcmp(name, "abs") == 0) {
        struct strbuf one = {0};
        bool good = put_node(put, argument, scope, false, &one);
        if (good)
            strbuf_print(text, "max(%s, -(%s))", one.bytes, one.bytes);
        strbuf_release(&one);
        return good;
    }
    return refuse(put, "it calls a function that has no counterpart");
}

static bool put_choice(struct put *put, const struct python_node *node,
                       const struct python_scope *scope, bool truth, struct strbuf *text) {
    const struct python_node *condition = node->child->next;
    strbuf_print(text, "(");
    if (!put_node(put, condition, scope, true, text))
        return false;
    strbuf_print(text, " ? ");
    if (!put_node(put, node->child, scope, truth, text))
        return false;
    strbuf_print(text, " : ");
    if (!put_node(put, condition->next, scope, truth, text))
        return false;
    strbuf_print(text, ")");
    return true;
}

bool put_node(struct put *put, const struct python_node *node, const struct python_scope *scope,
              bool truth, struct strbuf *text) {
    struct python_value value;
    const struct import_parameter *parameter;
    if (find_constant(put, node, scope, &value))
        return put_value(put, &value, truth, text);
    switch (node->kind) {
    case NODE_NAME:
        parameter = find_parameter(put, node->name, scope);
        if (parameter == NULL || parameter->words)
            return refuse(put, "it computes with a parameter that is no whole number");
        strbuf_print(text, "%s", parameter->name);
        return true;
    case NODE_NOT:
        strbuf_print(text, "!(");
        if (!put_node(put, node->child, scope, true, text))
            return false;
        strbuf_print(text, ")");
        return true;
    case NODE_NEGATE:
        strbuf_print(text, "(-");
        if (!put_node(put, node->child, scope, false, text))
            return false;
        strbuf_print(text, ")");
        return true;
    case NODE_PLUS:
        return put_node(put, node->child, scope, truth, text);
    case NODE_AND:
    case NODE_OR:
        return put_logic(put, node, scope, truth, text);
    case NODE_CHOOSE:
        return put_choice(put, node, scope, truth, text);
    case NODE_COMPARE:
        return put_chain(put, node, scope, text);
    case NODE_ADD:
        return put_binary(put, node, "+", scope, text);
    case NODE_SUBTRACT:
        return put_binary(put, node, "-", scope, text);
    case NODE_MULTIPLY:
        return put_binary(put, node, "*", scope, text);
    case NODE_FLOOR_DIVIDE:
        return put_binary(put, node, "/", scope, text);
    case NODE_REMAINDER:
        return put_binary(put, node, "%", scope, text);
    case NODE_POWER:
        return put_power(put, node, scope, text);
    case NODE_CALL:
        return put_call(put, node, scope, truth, text);
    case NODE_DIVIDE:
        return put->rounds ? put_binary(put, node, "/", scope, text)
                           : refuse(put, "it divides into fractions");
    default:
        return refuse(put, "it has a list or an index that depends on parameters");
    }
}
