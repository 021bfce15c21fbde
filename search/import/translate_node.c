#include "import/translate_internal.h"

#include "base/memory.h"

#include <inttypes.h>
#include <string.h>

enum { POWER_MAX = 16 };

bool translation_refuse(struct translation *translation, const char *why) {
    if (translation->why == NULL)
        translation->why = why;
    return false;
}

const struct import_parameter *translation_parameter(const struct translation *translation,
                                                     const char *name,
                                                     const struct python_scope *scope) {
    for (; scope != NULL; scope = scope->outer)
        if (strcmp(scope->name, name) == 0)
            return NULL;
    for (int i = 0; i < translation->space->count; i++)
        if (strcmp(translation->space->parameters[i].original, name) == 0)
            return &translation->space->parameters[i];
    return NULL;
}

/* Whether its value is the same for all genomes. */
bool translation_is_constant(const struct translation *translation, const struct python_node *node,
                             const struct python_scope *scope) {
    for (int i = 0; i < translation->space->count; i++) {
        const char *name = translation->space->parameters[i].original;
        if (translation_parameter(translation, name, scope) != NULL && python_reads(node, name))
            return false;
    }
    return true;
}

bool translation_constant(struct translation *translation, const struct python_node *node,
                          const struct python_scope *scope, struct python_value *value) {
    struct error ignored = {0};
    return translation_is_constant(translation, node, scope) &&
           python_evaluate_node(node, scope, &translation->heap, value, &ignored) == 0;
}

static bool print_value(struct translation *translation, const struct python_value *value,
                        bool truth, struct strbuf *text) {
    int64_t number;
    if (truth)
        strbuf_print(text, "%d", python_is_true(value));
    else if (python_whole(value, &number) && number != INT64_MIN)
        strbuf_print(text, number < 0 ? "(-%" PRId64 ")" : "%" PRId64,
                     number < 0 ? -number : number);
    else
        return translation_refuse(translation,
                                  "it computes with a number that is not whole, a text or a list");
    return true;
}

/* ---- the other nodes ---- */

/* `and` and `or` as conditions; as values they give one of their operands. */
static bool translate_logic(struct translation *translation, const struct python_node *node,
                            const struct python_scope *scope, bool truth, struct strbuf *text) {
    const bool is_and = node->kind == NODE_AND;
    struct import_texts operands = {0};
    bool good = true;
    for (const struct python_node *child = node->child; child != NULL && good;
         child = child->next) {
        struct strbuf one = {0};
        good = translate_node(translation, child, scope, truth, &one);
        if (good)
            import_texts_add(&operands, "%s", one.bytes);
        strbuf_release(&one);
    }
    if (good && truth)
        import_texts_join(&operands, is_and ? "&&" : "||", "1", text);
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
static bool translate_power(struct translation *translation, const struct python_node *node,
                            const struct python_scope *scope, struct strbuf *text) {
    const struct python_node *exponent = node->child->next;
    const struct import_parameter *parameter =
        exponent->kind == NODE_NAME ? translation_parameter(translation, exponent->name, scope)
                                    : NULL;
    struct strbuf base = {0};
    struct python_value value;
    int64_t number = 0;
    int cases = 1;
    if (translation_constant(translation, exponent, scope, &value)) {
        if (!python_whole(&value, &number))
            return translation_refuse(translation, "it has a power that is not whole");
    } else if (parameter == NULL || parameter->words)
        return translation_refuse(translation, "it has a power whose exponent is computed");
    else
        cases = parameter->count;
    bool good = translate_node(translation, node->child, scope, false, &base);
    for (int i = 0; i < cases && good; i++) {
        if (parameter != NULL)
            number = parameter->values[i].number;
        good = number >= 0 && number <= 4 * POWER_MAX;
        if (parameter != NULL && i + 1 < cases)
            strbuf_print(text, "(%s == %" PRId64 " ? ", parameter->name, number);
        struct python_value of_constant, exponent_value = {.type = PYTHON_INT, .number = number};
        struct python_node constant = {.kind = NODE_CONSTANT, .value = exponent_value};
        if (good && translation_constant(translation, node->child, scope, &of_constant)) {
            struct python_node first = {
                .kind = NODE_CONSTANT, .value = of_constant, .next = &constant};
            const struct python_node power = {.kind = NODE_POWER, .child = &first};
            good = translation_constant(translation, &power, scope, &of_constant) &&
                   print_value(translation, &of_constant, false, text);
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
    return good || translation_refuse(translation, "it has a power that is negative or too large");
}

static bool translate_binary(struct translation *translation, const struct python_node *node,
                             const char *op, const struct python_scope *scope,
                             struct strbuf *text) {
    strbuf_print(text, "(");
    if (!translate_node(translation, node->child, scope, false, text))
        return false;
    strbuf_print(text, " %s ", op);
    if (!translate_node(translation, node->child->next, scope, false, text))
        return false;
    strbuf_print(text, ")");
    return true;
}

/* a / b where it is rounded at once. */
static bool translate_quotient(struct translation *translation, const struct python_node *node,
                               bool up, const struct python_scope *scope, struct strbuf *text) {
    if (node->kind != NODE_DIVIDE)
        return translate_node(translation, node, scope, false, text);
    if (!up)
        return translate_binary(translation, node, "/", scope, text);
    strbuf_print(text, "ceil_div(");
    if (!translate_node(translation, node->child, scope, false, text))
        return false;
    strbuf_print(text, ", ");
    if (!translate_node(translation, node->child->next, scope, false, text))
        return false;
    strbuf_print(text, ")");
    return true;
}

static bool translate_extreme(struct translation *translation, const struct elements *elements,
                              const char *name, struct strbuf *text) {
    if (elements->texts.count == 0)
        return translation_refuse(translation, "it asks for an extreme of nothing");
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

static bool translate_call(struct translation *translation, const struct python_node *node,
                           const struct python_scope *scope, bool truth, struct strbuf *text) {
    const struct python_node *argument = node->child;
    const char *name = node->name;
    const bool all = strcmp(name, "all") == 0, any = strcmp(name, "any") == 0;
    const bool extreme = strcmp(name, "min") == 0 || strcmp(name, "max") == 0;
    if (argument == NULL)
        return translation_refuse(translation, "it calls a function without an argument");
    if (all || any || extreme || strcmp(name, "sum") == 0 || strcmp(name, "len") == 0) {
        struct elements elements = {.translation = translation, .truth = all || any};
        const struct python_node several = {.kind = NODE_LIST, .child = node->child};
        bool good = translate_elements(
            &elements, extreme && argument->next != NULL ? &several : argument, scope);
        if (good && strcmp(name, "len") == 0)
            strbuf_print(text, "%d", elements.texts.count);
        else if (good && extreme)
            good = translate_extreme(translation, &elements, name, text);
        else if (good)
            import_texts_join(&elements.texts,
                              all   ? "&&"
                              : any ? "||"
                                    : "+",
                              all ? "1" : "0", text);
        import_texts_release(&elements.texts);
        return good;
    }
    if (strcmp(name, "bool") == 0)
        return translate_node(translation, argument, scope, truth, text);
    if (strcmp(name, "ceil") == 0 || strcmp(name, "int") == 0 || strcmp(name, "floor") == 0)
        return translate_quotient(translation, argument, strcmp(name, "ceil") == 0, scope, text);
    if (strcmp(name, "abs") == 0) {
        struct strbuf one = {0};
        bool good = translate_node(translation, argument, scope, false, &one);
        if (good)
            strbuf_print(text, "max(%s, -(%s))", one.bytes, one.bytes);
        strbuf_release(&one);
        return good;
    }
    return translation_refuse(translation, "it calls a function that has no counterpart");
}

static bool translate_choice(struct translation *translation, const struct python_node *node,
                             const struct python_scope *scope, bool truth, struct strbuf *text) {
    const struct python_node *condition = node->child->next;
    strbuf_print(text, "(");
    if (!translate_node(translation, condition, scope, true, text))
        return false;
    strbuf_print(text, " ? ");
    if (!translate_node(translation, node->child, scope, truth, text))
        return false;
    strbuf_print(text, " : ");
    if (!translate_node(translation, condition->next, scope, truth, text))
        return false;
    strbuf_print(text, ")");
    return true;
}

bool translate_node(struct translation *translation, const struct python_node *node,
                    const struct python_scope *scope, bool truth, struct strbuf *text) {
    struct python_value value;
    const struct import_parameter *parameter;
    if (translation_constant(translation, node, scope, &value))
        return print_value(translation, &value, truth, text);
    switch (node->kind) {
    case NODE_NAME:
        parameter = translation_parameter(translation, node->name, scope);
        if (parameter == NULL || parameter->words)
            return translation_refuse(translation,
                                      "it computes with a parameter that is no whole number");
        strbuf_print(text, "%s", parameter->name);
        return true;
    case NODE_NOT:
        strbuf_print(text, "!(");
        if (!translate_node(translation, node->child, scope, true, text))
            return false;
        strbuf_print(text, ")");
        return true;
    case NODE_NEGATE:
        strbuf_print(text, "(-");
        if (!translate_node(translation, node->child, scope, false, text))
            return false;
        strbuf_print(text, ")");
        return true;
    case NODE_PLUS:
        return translate_node(translation, node->child, scope, truth, text);
    case NODE_AND:
    case NODE_OR:
        return translate_logic(translation, node, scope, truth, text);
    case NODE_CHOOSE:
        return translate_choice(translation, node, scope, truth, text);
    case NODE_COMPARE:
        return translate_chain(translation, node, scope, text);
    case NODE_ADD:
        return translate_binary(translation, node, "+", scope, text);
    case NODE_SUBTRACT:
        return translate_binary(translation, node, "-", scope, text);
    case NODE_MULTIPLY:
        return translate_binary(translation, node, "*", scope, text);
    case NODE_FLOOR_DIVIDE:
        return translate_binary(translation, node, "/", scope, text);
    case NODE_REMAINDER:
        return translate_binary(translation, node, "%", scope, text);
    case NODE_POWER:
        return translate_power(translation, node, scope, text);
    case NODE_CALL:
        return translate_call(translation, node, scope, truth, text);
    case NODE_DIVIDE:
        return translation->rounds ? translate_binary(translation, node, "/", scope, text)
                                   : translation_refuse(translation, "it divides into fractions");
    default:
        return translation_refuse(translation,
                                  "it has a list or an index that depends on parameters");
    }
}
