/* Comparisons, and the lists that conditions compare with or compute over. */
#include "import/translate_internal.h"

#include <inttypes.h>
#include <string.h>

enum { TERMS_MAX = 512 };

/* `PARAMETER == VALUE` of a parameter that has words. */
static bool print_word_test(const struct import_parameter *parameter,
                            const struct python_value *value, struct strbuf *text) {
    for (int i = 0; i < parameter->count; i++)
        if (python_equal(&parameter->values[i], value)) {
            strbuf_print(text, "(%s == %s)", parameter->name, parameter->labels[i]);
            return true;
        }
    strbuf_print(text, "0");
    return true;
}

static bool translate_equal(struct translation *translation, const struct python_node *left,
                            const struct python_node *right, const struct python_scope *scope,
                            struct strbuf *text) {
    struct python_value value;
    for (int turn = 0; turn < 2; turn++) {
        const struct python_node *name = turn == 0 ? left : right,
                                 *other = turn == 0 ? right : left;
        const struct import_parameter *parameter =
            name->kind == NODE_NAME ? translation_parameter(translation, name->name, scope) : NULL;
        if (!translation_constant(translation, other, scope, &value))
            continue;
        if (parameter != NULL && parameter->words)
            return print_word_test(parameter, &value, text);
        int64_t whole;
        if (!translation_is_constant(translation, name, scope) && !python_whole(&value, &whole)) {
            strbuf_print(text, "0"); /* numbers are whole */
            return true;
        }
    }
    strbuf_print(text, "(");
    if (!translate_node(translation, left, scope, false, text))
        return false;
    strbuf_print(text, " == ");
    if (!translate_node(translation, right, scope, false, text))
        return false;
    strbuf_print(text, ")");
    return true;
}

/* x in range(a, b, c), without listing its numbers. */
static bool translate_in_range(struct translation *translation, const struct python_node *item,
                               const struct python_node *range, const struct python_scope *scope,
                               struct strbuf *text) {
    const struct python_node *from = range->child, *to = from != NULL ? from->next : NULL;
    const struct python_node *step = to != NULL ? to->next : NULL;
    struct python_value value = {.type = PYTHON_INT, .number = 1};
    struct strbuf x = {0}, a = {0}, b = {0};
    bool good = from != NULL &&
                (step == NULL || translation_constant(translation, step, scope, &value)) &&
                value.type == PYTHON_INT && value.number > 0 &&
                translate_node(translation, item, scope, false, &x) &&
                translate_node(translation, from, scope, false, to != NULL ? &a : &b) &&
                (to == NULL || translate_node(translation, to, scope, false, &b));
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
    return good || translation_refuse(translation,
                                      "it asks for a range whose step is no positive constant");
}

static bool add_element(struct elements *elements, const struct python_node *node,
                        const struct python_scope *scope) {
    struct strbuf text = {0};
    bool good = elements->texts.count < TERMS_MAX &&
                (elements->item != NULL
                     ? translate_equal(elements->translation, elements->item, node, scope, &text)
                     : translate_node(elements->translation, node, scope, elements->truth, &text));
    if (good)
        import_texts_add(&elements->texts, "%s", text.bytes);
    strbuf_release(&text);
    return good || translation_refuse(elements->translation, "it has a list that is too long");
}

static bool add_clauses(struct elements *elements, const struct python_node *element,
                        const struct python_node *clause, const struct python_scope *scope) {
    struct python_value value;
    if (clause == NULL)
        return add_element(elements, element, scope);
    if (!translation_constant(elements->translation, clause->child, scope, &value))
        return translation_refuse(elements->translation, "it has a comprehension over parameters");
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

bool translate_elements(struct elements *elements, const struct python_node *list,
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
    if (!translation_constant(elements->translation, list, scope, &value) ||
        value.type != PYTHON_LIST)
        return translation_refuse(elements->translation,
                                  "it has a list that depends on parameters");
    for (int i = 0; i < value.count; i++) {
        const struct python_node constant = {.kind = NODE_CONSTANT, .value = value.items[i]};
        if (!add_element(elements, &constant, scope))
            return false;
    }
    return true;
}

static bool translate_in(struct translation *translation, const struct python_node *item,
                         const struct python_node *list, const struct python_scope *scope,
                         struct strbuf *text) {
    struct elements elements = {.translation = translation, .item = item};
    if (list->kind == NODE_CALL && strcmp(list->name, "range") == 0)
        return translate_in_range(translation, item, list, scope, text);
    bool good = translate_elements(&elements, list, scope);
    if (good)
        import_texts_join(&elements.texts, "||", "0", text);
    import_texts_release(&elements.texts);
    return good;
}

static bool translate_comparison(struct translation *translation, const struct python_node *left,
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
        return translate_equal(translation, left, right, scope, text);
    if (right->compare == COMPARE_IN || right->compare == COMPARE_NOT_IN) {
        strbuf_print(text, "(");
        if (!translate_in(translation, left, right, scope, text))
            return false;
        strbuf_print(text, ")");
        return true;
    }
    strbuf_print(text, "(");
    if (!translate_node(translation, left, scope, false, text))
        return false;
    strbuf_print(text, " %s ", spelled[right->compare]);
    if (!translate_node(translation, right, scope, false, text))
        return false;
    strbuf_print(text, ")");
    return true;
}

bool translate_chain(struct translation *translation, const struct python_node *node,
                     const struct python_scope *scope, struct strbuf *text) {
    strbuf_print(text, "(");
    for (const struct python_node *left = node->child; left->next != NULL; left = left->next) {
        if (left != node->child)
            strbuf_print(text, " && ");
        if (!translate_comparison(translation, left, left->next, scope, text))
            return false;
    }
    strbuf_print(text, ")");
    return true;
}
