/* Prints a template's expressions as C, and as Python. */
#include "base/memory.h"
#include "export/constants.h"
#include "export/internal.h"

#include <string.h>

/* Marks what is constant, and names the dimensions that are not. */
static int fill_printer(struct expr_printer *printer, const struct export_variant *variant,
                        const char *member, struct error *error) {
    const struct template *template = printer->template;
    const struct space *space = template->space;
    struct constants constants;
    if (constants_of_variant(&constants, template, variant != NULL ? variant->genome : NULL,
                             variant != NULL ? variant->case_index : -1, error) < 0)
        return -1;
    printer->known = constants.known;
    memcpy(printer->values, constants.values, sizeof printer->values);
    for (int i = 0; i < template->dimension_count; i++) {
        const int slot = space->dimensions[i];
        if (!slots_has(&printer->known, slot) &&
            snprintf(printer->symbols.slots[slot], NAME_SIZE, "%s%s", member,
                     template->dimensions[i].name) >= NAME_SIZE)
            return error_input(error, "%s: the name of dimension %s is too long to be exported",
                               template->document.file, template->dimensions[i].name);
    }
    return 0;
}

struct expr_printer *expr_to_c_new(const struct template *template,
                                   const struct export_variant *variant, bool as_double,
                                   struct error *error) {
    struct expr_printer *printer = xcalloc(1, sizeof *printer);
    printer->template = template;
    printer->type = as_double ? "double" : "int64_t";
    printer->symbols = template->space->symbols;
    if (fill_printer(printer, variant, as_double ? "(double)shape->" : "shape->", error) == 0)
        return printer;
    free(printer);
    return NULL;
}

struct expr_printer *expr_to_python_new(const struct template *template, const char *member,
                                        struct error *error) {
    struct expr_printer *printer = xcalloc(1, sizeof *printer);
    printer->template = template;
    printer->python = true;
    printer->symbols = template->space->symbols;
    if (fill_printer(printer, NULL, member, error) == 0)
        return printer;
    free(printer);
    return NULL;
}

/* Returns the printed expression, which the caller frees. */
static char *print_expression(const struct expr_printer *printer,
                              const struct expression *expression) {
    struct expression_style style = {&printer->known, printer->values,
                                     printer->python ? PYTHON_FUNCTION_PREFIX : INT_FUNCTION_PREFIX,
                                     printer->python};
    size_t length = expression_print(expression, &printer->symbols, &style, NULL, 0);
    char *code = xmalloc(length + 1);
    expression_print(expression, &printer->symbols, &style, code, length + 1);
    return code;
}

bool expr_to_c_constant(const struct expr_printer *printer, const struct expression *expression,
                        int64_t *value) {
    char *code = print_expression(printer, expression);
    const char *digits = code + (code[0] == '(');
    char *end;
    long long number = strtoll(digits, &end, 10);
    const char *suffix = printer->python ? "" : "LL";
    const size_t length = strlen(suffix);
    bool constant = end != digits && strncmp(end, suffix, length) == 0 &&
                    (end[length] == '\0' || strcmp(end + length, ")") == 0);
    if (constant)
        *value = number;
    free(code);
    return constant;
}

void expr_to_c_add(const struct expr_printer *printer, const struct expression *expression,
                   struct strbuf *text) {
    int64_t value;
    if (expr_to_c_constant(printer, expression, &value)) {
        strbuf_print(text, "%lld", (long long)value);
        return;
    }
    char *code = print_expression(printer, expression);
    strbuf_add(text, code, strlen(code));
    free(code);
}

void expr_to_c_add_locals(const struct expr_printer *printer, const char *code,
                          struct strbuf *text) {
    const struct space *space = printer->template->space;
    char *printed[DERIVED_MAX] = {NULL};
    /* A quantity reads only earlier ones, so dependencies are found from the last to the first. */
    for (int i = space->derived_count - 1; i >= 0; i--) {
        int slot = space->derived[i].slot;
        const char *name = printer->symbols.slots[slot];
        if (slots_has(&printer->known, slot))
            continue;
        bool needed = mentions_identifier(code, name);
        for (int later = i + 1; later < space->derived_count && !needed; later++)
            needed = printed[later] != NULL && mentions_identifier(printed[later], name);
        if (needed)
            printed[i] = print_expression(printer, space->derived[i].expression);
    }
    for (int i = 0; i < space->derived_count; i++) {
        int slot = space->derived[i].slot;
        int stride;
        const struct tensor *tensor = constants_strided_tensor(printer->template, slot, &stride);
        if (printed[i] == NULL)
            continue;
        if (printer->python) {
            strbuf_print(text, "    %s = %s\n", printer->symbols.slots[slot], printed[i]);
            free(printed[i]);
            continue;
        }
        strbuf_print(text, "    const %s %s = ", printer->type, printer->symbols.slots[slot]);
        if (tensor != NULL && printer->launches)
            strbuf_print(text, "given(tensors->%s_strides, %d) ? tensors->%s_strides[%d] : ",
                         tensor->name, tensor->rank - 1, tensor->name, stride);
        strbuf_print(text, "%s;\n", printed[i]);
        free(printed[i]);
    }
}
