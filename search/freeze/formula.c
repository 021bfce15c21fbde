/* Prints a template's expressions as C. */
#include "freeze/parts.h"

#include <string.h>

/* The tensor that has the derived quantity in this slot as a stride, and the stride's index; or
   NULL. */
static const struct tensor *strided_by(const struct template *template, int slot, int *index) {
    for (int t = 0; t < template->tensor_count; t++) {
        const struct tensor *tensor = &template->tensors[t];
        for (*index = 0; tensor->strided && *index < tensor->rank - 1; (*index)++)
            if (tensor->strides[*index] == slot)
                return tensor;
    }
    return NULL;
}

/* Derived quantities of constants are constants too, except strides, which the caller may
   override. */
static void learn_derived(struct formulas *formulas) {
    const struct space *space = formulas->template->space;
    for (int i = 0; i < space->derived_count; i++) {
        const struct slots *reads = expression_reads(space->derived[i].expression);
        bool all = strided_by(formulas->template, space->derived[i].slot, &(int){0}) == NULL;
        for (int word = 0; word < SLOTS_MAX / 64; word++)
            all = all && (reads->words[word] & ~formulas->known.words[word]) == 0;
        if (all)
            slots_add(&formulas->known, space->derived[i].slot);
    }
}

int formulas_init(struct formulas *formulas, const struct template *template,
                  const struct frozen_unit *unit, bool as_double, struct error *error) {
    const struct space *space = template->space;
    const char *member = as_double ? "(double)shape->" : "shape->";
    *formulas = (struct formulas){
        .template = template, .type = as_double ? "double" : "int64_t", .scope = space->scope};
    if (space_values(space, unit->genome, unit->case_index, formulas->values, error) < 0)
        return -1;
    for (int i = 0; i < space->gene_count; i++)
        slots_add(&formulas->known, space->genes[i].slot);
    for (int i = 0; i < space->dimension_count; i++) {
        int slot = space->dimensions[i];
        /* The case's dimensions come before the device's attributes. */
        if (i >= template->dimension_count || template->dimensions[i].specialised)
            slots_add(&formulas->known, slot);
        else if (snprintf(formulas->scope.slots[slot], NAME_SIZE, "%s%s", member,
                          template->dimensions[i].name) >= NAME_SIZE)
            return error_input(error, "%s: the name of dimension %s is too long to be exported",
                               template->document.file, template->dimensions[i].name);
    }
    learn_derived(formulas);
    return 0;
}

/* Returns the printed expression, which the caller frees. */
static char *print(const struct formulas *formulas, const struct expression *expression) {
    struct expression_style style = {&formulas->known, formulas->values, FORMULA_PREFIX};
    size_t length = expression_print(expression, &formulas->scope, &style, NULL, 0);
    char *code = malloc(length + 1);
    if (code == NULL)
        BUG("out of memory");
    expression_print(expression, &formulas->scope, &style, code, length + 1);
    return code;
}

bool formula_constant(const struct formulas *formulas, const struct expression *expression,
                      int64_t *value) {
    char *code = print(formulas, expression);
    const char *digits = code + (code[0] == '(');
    char *end;
    long long number = strtoll(digits, &end, 10);
    bool constant = end != digits && (strcmp(end, "LL") == 0 || strcmp(end, "LL)") == 0);
    if (constant)
        *value = number;
    free(code);
    return constant;
}

void formula_add(const struct formulas *formulas, const struct expression *expression,
                 struct text *text) {
    int64_t value;
    if (formula_constant(formulas, expression, &value)) {
        text_print(text, "%lld", (long long)value);
        return;
    }
    char *code = print(formulas, expression);
    text_add(text, code, strlen(code));
    free(code);
}

void formulas_locals(const struct formulas *formulas, const char *code, struct text *text) {
    const struct space *space = formulas->template->space;
    char *printed[DERIVED_MAX] = {NULL};
    /* A quantity reads only earlier ones, so dependencies are found from the last to the first. */
    for (int i = space->derived_count - 1; i >= 0; i--) {
        int slot = space->derived[i].slot;
        const char *name = formulas->scope.slots[slot];
        if (slots_has(&formulas->known, slot))
            continue;
        bool needed = text_mentions(code, name);
        for (int later = i + 1; later < space->derived_count && !needed; later++)
            needed = printed[later] != NULL && text_mentions(printed[later], name);
        if (needed)
            printed[i] = print(formulas, space->derived[i].expression);
    }
    for (int i = 0; i < space->derived_count; i++) {
        int slot = space->derived[i].slot;
        int stride;
        const struct tensor *tensor = strided_by(formulas->template, slot, &stride);
        if (printed[i] == NULL)
            continue;
        text_print(text, "    const %s %s = ", formulas->type, formulas->scope.slots[slot]);
        if (tensor != NULL && formulas->launches)
            text_print(text,
                       "given(tensors->%s_strides, %d) ? tensors->%s_strides[%d] : ", tensor->name,
                       tensor->rank - 1, tensor->name, stride);
        text_print(text, "%s;\n", printed[i]);
        free(printed[i]);
    }
}
