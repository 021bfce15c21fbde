#include "export/binding.h"

#include <math.h>
#include <string.h>

/* ---- where things are from ---- */

bool is_given(const struct tensor *tensor) {
    return is_parameter(tensor) && (tensor->role == ROLE_INPUT || is_in_place(tensor));
}

/* A tensor's index says what an output holds before a call. What is added to is not: it is cleared.
 */
bool is_in_place(const struct tensor *tensor) {
    return tensor->role == ROLE_OUTPUT && tensor->before > 0;
}

int order_tensor(const struct template *template, int tensor) {
    const struct tensor *of = &template->tensors[tensor];
    for (int t = 0; of->strided && t < template->tensor_count; t++) {
        const struct tensor *like = &template->tensors[t];
        if (is_given(like) && like->strided && like->when == NULL && like->rank == of->rank)
            return t;
    }
    return -1;
}

/* Marks the dimensions that a kernel has compiled in with one value for all cases. */
static void find_fixed(const struct template *template, struct slots *fixed,
                       int64_t values[SLOTS_MAX]) {
    const struct space *space = template->space;
    const struct genome usual = genome_default(space);
    int64_t others[SLOTS_MAX];
    if (space_values(space, &usual, 0, values, NULL) < 0)
        return;
    bool differs[DIMENSIONS_MAX] = {0};
    for (int c = 1; c < template->case_count; c++) {
        const bool known = space_values(space, &usual, c, others, NULL) == 0;
        for (int d = 0; d < template->dimension_count; d++)
            differs[d] = differs[d] || !known ||
                         others[space->dimensions[d]] != values[space->dimensions[d]];
    }
    for (int d = 0; d < template->dimension_count; d++)
        if (template->dimensions[d].specialised && !differs[d])
            slots_add(fixed, space->dimensions[d]);
}

static bool is_dimension(const struct template *template, const char *name) {
    for (int d = 0; d < template->dimension_count; d++)
        if (strcmp(template->dimensions[d].name, name) == 0)
            return true;
    return false;
}

void print_extent(const struct template *template, const struct expression *extent,
                  char text[EXPRESSION_TEXT_MAX]) {
    const struct space *space = template->space;
    struct slots fixed = {0};
    int64_t values[SLOTS_MAX];
    find_fixed(template, &fixed, values);
    const struct expression_style style = {.known = &fixed, .values = values};
    for (int left = space->derived_count; extent != NULL; left--) {
        const bool named = is_dimension(template, expression_text(extent));
        expression_print(extent, &space->symbols, named ? NULL : &style, text, EXPRESSION_TEXT_MAX);
        extent = NULL;
        for (int i = 0; i < space->derived_count && left > 0; i++)
            if (strcmp(space->symbols.slots[space->derived[i].slot], text) == 0)
                extent = space->derived[i].expression;
    }
}

static bool is_name(const struct expression *expression, const char *name) {
    return expression != NULL && strcmp(expression_text(expression), name) == 0;
}

static bool is_extent(const struct template *template, const struct expression *extent,
                      const char *name) {
    char text[EXPRESSION_TEXT_MAX];
    print_extent(template, extent, text);
    return strcmp(text, name) == 0;
}

/* Of several places the first counts; call_read compares the others with it. */
static void find_source(struct binding *binding, int d) {
    const struct template *template = binding->template;
    const char *name = template->dimensions[d].name;
    for (enum dimension_source source = FROM_EXTENT; source <= FROM_PRESENCE; source++)
        for (int t = 0; t < template->tensor_count; t++) {
            const struct tensor *tensor = &template->tensors[t];
            const int last = source == FROM_EXTENT ? tensor->rank : 1;
            if (!is_given(tensor) || (tensor->when != NULL) != (source == FROM_PRESENCE))
                continue;
            for (int axis = 0; axis < last; axis++)
                if (source == FROM_EXTENT
                        ? is_extent(template, tensor->shape[axis], name)
                        : is_name(source == FROM_DTYPE ? tensor->dtype_when : tensor->when, name)) {
                    binding->dimensions[d].source = source;
                    binding->dimensions[d].tensor = t;
                    binding->dimensions[d].axis = axis;
                    return;
                }
        }
}

void binding_init(struct binding *binding, const struct template *template) {
    *binding = (struct binding){.template = template};
    for (int d = 0; d < template->dimension_count; d++)
        find_source(binding, d);
}

/* ---- values of templates ---- */

static cJSON *add_object(cJSON *list) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddBoolToObject(object, "first", cJSON_GetArraySize(list) == 0);
    cJSON_AddItemToArray(list, object);
    return object;
}

static void add_tensors(const struct template *template, cJSON *values) {
    cJSON *given = cJSON_AddArrayToObject(values, "given");
    cJSON *returned = cJSON_AddArrayToObject(values, "returned");
    for (int i = 0; i < 2 * template->tensor_count; i++) {
        const struct tensor *tensor = &template->tensors[i % template->tensor_count];
        const bool optional = is_given(tensor) && tensor->when != NULL;
        if (!is_parameter(tensor) || optional != (i >= template->tensor_count))
            continue;
        cJSON *list = is_given(tensor) ? given : returned;
        cJSON *object = add_object(list);
        cJSON_AddStringToObject(object, "tensor", tensor->name);
        cJSON_AddNumberToObject(object, "index", cJSON_GetArraySize(list) - 1);
        cJSON_AddBoolToObject(object, "optional", tensor->when != NULL);
        cJSON_AddBoolToObject(object, "in_place", is_in_place(tensor));
    }
    cJSON_AddNumberToObject(values, "given_count", cJSON_GetArraySize(given));
    cJSON_AddNumberToObject(values, "returned_count", cJSON_GetArraySize(returned));
    cJSON_AddBoolToObject(values, "one_returned", cJSON_GetArraySize(returned) == 1);
    cJSON_AddBoolToObject(values, "none_returned", cJSON_GetArraySize(returned) == 0);
    cJSON_AddBoolToObject(values, "many_returned", cJSON_GetArraySize(returned) > 1);
}

/* Whether a dimension's default is a number, and which as Python writes it. */
static bool default_number(const struct template *template, int d,
                           const struct expr_printer *printer, char text[NAME_SIZE]) {
    const struct dimension *dimension = &template->dimensions[d];
    int64_t value;
    if (dimension->default_value == NULL ||
        !expr_to_c_constant(printer, dimension->default_value, &value))
        return false;
    if (dimension->real)
        dimension_print_real(dimension_real(value), text);
    else
        snprintf(text, NAME_SIZE, "%lld", (long long)value);
    if (dimension->real && text[strcspn(text, ".en")] == '\0')
        strncat(text, ".0", NAME_SIZE - strlen(text) - 1);
    return true;
}

static void add_argument(cJSON *list, const char *name, const char *about, const char *type,
                         const char *member, const char *usual) {
    const bool real = strcmp(type, "float") == 0 || strcmp(type, "double") == 0;
    cJSON *object = add_object(list);
    char path[NAME_SIZE + 8];
    snprintf(path, sizeof path, "%s%s", member, name);
    cJSON_AddStringToObject(object, "type", type);
    cJSON_AddBoolToObject(object, "scalar", *member == '\0');
    cJSON_AddStringToObject(object, "argument", name);
    cJSON_AddStringToObject(object, "explained", about);
    cJSON_AddBoolToObject(object, "real", real);
    cJSON_AddStringToObject(object, "member", path);
    cJSON_AddStringToObject(object, "default", usual);
    cJSON_AddBoolToObject(object, "no_default", strcmp(usual, "None") == 0);
}

int binding_add(const struct binding *binding, cJSON *values, struct error *error) {
    const struct template *template = binding->template;
    struct expr_printer *printer = expr_to_python_new(template, "", error);
    if (printer == NULL)
        return -1;
    add_tensors(template, values);
    cJSON *arguments = cJSON_AddArrayToObject(values, "arguments");
    for (int d = 0; d < template->dimension_count; d++) {
        const struct dimension *dimension = &template->dimensions[d];
        char usual[NAME_SIZE] = "None";
        if (binding->dimensions[d].source != FROM_CALLER)
            continue;
        default_number(template, d, printer, usual);
        add_argument(arguments, dimension->name, dimension->about,
                     dimension->real ? "float" : "int64_t", "shape.", usual);
    }
    for (int s = 0; s < template->scalar_count; s++) {
        const struct scalar *scalar = &template->scalars[s];
        add_argument(arguments, scalar->name, scalar->about, scalar_type(scalar), "", "None");
    }
    cJSON_AddBoolToObject(values, "any_arguments", cJSON_GetArraySize(arguments) > 0);
    free(printer);
    return 0;
}

/* ---- extents in Python ---- */

/* "    B = q.shape[0]", and of a default that depends on others "    if N is None: ..." */
static void add_dimensions(const struct binding *binding, const struct expr_printer *printer,
                           struct strbuf *text) {
    const struct template *template = binding->template;
    char usual[NAME_SIZE];
    for (int d = 0; d < template->dimension_count; d++) {
        const struct dimension *dimension = &template->dimensions[d];
        const struct tensor *tensor = &template->tensors[binding->dimensions[d].tensor];
        switch (binding->dimensions[d].source) {
        case FROM_EXTENT:
            strbuf_print(text, "    %s = %s.shape[%d]\n", dimension->name, tensor->name,
                         binding->dimensions[d].axis);
            break;
        case FROM_DTYPE:
            strbuf_print(text, "    %s = %s.dtype == _%s\n", dimension->name, tensor->name,
                         dtype_name(tensor->dtype));
            break;
        case FROM_PRESENCE:
            strbuf_print(text, "    %s = %s is not None\n", dimension->name, tensor->name);
            break;
        case FROM_CALLER:
            break;
        }
    }
    for (int d = 0; d < template->dimension_count; d++)
        if (binding->dimensions[d].source == FROM_CALLER &&
            template->dimensions[d].default_value != NULL &&
            !default_number(template, d, printer, usual)) {
            strbuf_print(text, "    if %s is None:\n        %s = ", template->dimensions[d].name,
                         template->dimensions[d].name);
            expr_to_c_add(printer, template->dimensions[d].default_value, text);
            strbuf_print(text, "\n");
        }
}

/* "((B, H, S, DV), _bf16 if BF16 else _f16, q)": extents, dtype, and the tensor whose memory order
   it has or None. */
static void add_returned(const struct template *template, int index,
                         const struct expr_printer *printer, struct strbuf *text) {
    const struct tensor *tensor = &template->tensors[index];
    const int like = order_tensor(template, index);
    strbuf_print(text, "(");
    if (tensor->when != NULL)
        strbuf_print(text, "(");
    strbuf_print(text, "(");
    for (int i = 0; i < tensor->rank; i++) {
        expr_to_c_add(printer, tensor->shape[i], text);
        strbuf_print(text, tensor->rank == 1 ? "," : i + 1 < tensor->rank ? ", " : "");
    }
    strbuf_print(text, ")");
    if (tensor->when != NULL) {
        strbuf_print(text, " if ");
        expr_to_c_add(printer, tensor->when, text);
        strbuf_print(text, " else (0,))");
    }
    strbuf_print(text, ", _%s", dtype_name(tensor->dtype));
    if (tensor->dtype_when != NULL) {
        strbuf_print(text, " if ");
        expr_to_c_add(printer, tensor->dtype_when, text);
        strbuf_print(text, " else _%s", dtype_name(tensor->other_dtype));
    }
    strbuf_print(text, ", %s)", like >= 0 ? template->tensors[like].name : "None");
}

int binding_add_extents(const struct binding *binding, cJSON *values, struct error *error) {
    const struct template *template = binding->template;
    struct expr_printer *printer = expr_to_python_new(template, "", error);
    struct strbuf text = {0}, list = {0};
    if (printer == NULL)
        return -1;
    add_dimensions(binding, printer, &text);
    strbuf_print(&list, "    return [");
    for (int t = 0, count = 0; t < template->tensor_count; t++)
        if (is_parameter(&template->tensors[t]) && !is_given(&template->tensors[t])) {
            strbuf_print(&list, "%s", count++ > 0 ? ",\n            " : "");
            add_returned(template, t, printer, &list);
        }
    strbuf_print(&list, "]\n");
    expr_to_c_add_locals(printer, list.bytes, &text);
    strbuf_print(&text, "%s", list.bytes);
    strbuf_release(&list);
    free(printer);
    embedded_add_text(values, "extents", &text);
    return 0;
}
