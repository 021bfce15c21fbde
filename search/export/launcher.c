/* NAME.c, the launcher: fills launcher.c.in. variant.c writes the functions of each variant. */
#include "base/memory.h"
#include "export/internal.h"
#include "export/variant.h"

#include <string.h>

/* Adds a float literal: 0.25f, 1e-05f, 3.0f. */
static void add_real(float value, struct strbuf *text) {
    char number[NAME_SIZE];
    dimension_print_real(value, number);
    strbuf_print(text, "%s%sf", number, number[strcspn(number, ".e")] == '\0' ? ".0" : "");
}

static void add_real_range(const struct dimension *dimension, struct strbuf *text) {
    strbuf_print(text, "shape->%s >= ", dimension->name);
    add_real(dimension->least, text);
    strbuf_print(text, " && shape->%s <= ", dimension->name);
    add_real(dimension->most, text);
}

static void add_in_range(const struct template *template, cJSON *values) {
    struct strbuf text = {0};
    for (int d = 0; d < template->dimension_count; d++) {
        const struct dimension *dimension = &template->dimensions[d];
        strbuf_print(&text, "%s", d > 0 ? " &&\n           " : "");
        if (dimension->real) {
            add_real_range(dimension, &text);
        } else if (dimension->value_count > 0) {
            strbuf_print(&text, "(");
            for (int i = 0; i < dimension->value_count; i++)
                strbuf_print(&text, "%sshape->%s == %lld", i > 0 ? " || " : "", dimension->name,
                             (long long)dimension->values[i]);
            strbuf_print(&text, ")");
        } else {
            strbuf_print(&text, "shape->%s >= %lld && shape->%s <= %lld", dimension->name,
                         (long long)dimension->minimum, dimension->name,
                         (long long)dimension->maximum);
        }
    }
    strbuf_print(&text, "%s", template->dimension_count == 0 ? "1" : "");
    embedded_add_text(values, "in_range", &text);
}

static void add_same_shape(const struct template *template, cJSON *values) {
    struct strbuf text = {0};
    for (int d = 0; d < template->dimension_count; d++)
        strbuf_print(&text, "%sa->%s == b->%s", d > 0 ? " &&\n           " : "",
                     template->dimensions[d].name, template->dimensions[d].name);
    strbuf_print(&text, "%s", template->dimension_count == 0 ? "1" : "");
    embedded_add_text(values, "same_shape", &text);
}

/* A row of the table `tuned`: "{{64, 512, 0}, 0, 32768.0}". */
static void add_tuned_row(const struct export *export, int index, cJSON *rows) {
    const struct template *template = export->template;
    struct strbuf text = {0};
    strbuf_print(&text, "{{");
    for (int d = 0; d < template->dimension_count; d++) {
        int64_t value = template->cases[index].values[d];
        strbuf_print(&text, "%s", d > 0 ? ", " : "");
        if (template->dimensions[d].real)
            add_real(dimension_real(value), &text);
        else
            strbuf_print(&text, "%lld", (long long)value);
    }
    strbuf_print(&text, "}, %d, %.1f}", export->request->cases[index].variant,
                 (double)export->checked[index].plan.operations);
    cJSON *row = cJSON_CreateObject();
    cJSON_AddItemToArray(rows, row);
    embedded_add_text(row, "row", &text);
}

static int add_architecture(const struct export *export, cJSON *values, struct error *error) {
    char architecture[NAME_SIZE] = "";
    struct strbuf options = {0};
    int result = variant_options(export, 0, architecture, &options, error);
    cJSON_AddStringToObject(values, "architecture", architecture);
    strbuf_release(&options);
    return result;
}

/* The integer functions that printed expressions call; empty if the variants call none. */
static void add_arithmetic(const char *variants, cJSON *values) {
    static const char *const calls[] = {INT_FUNCTION_PREFIX "min(", INT_FUNCTION_PREFIX "max(",
                                        INT_FUNCTION_PREFIX "ceil_div(",
                                        INT_FUNCTION_PREFIX "log2("};
    size_t length = expression_print_functions(INT_FUNCTION_PREFIX, NULL, 0);
    bool called = false;
    struct strbuf text = {0};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        called = called || strstr(variants, calls[i]) != NULL;
    if (called) {
        char *functions = xmalloc(length + 1);
        expression_print_functions(INT_FUNCTION_PREFIX, functions, length + 1);
        strbuf_print(&text, "%s\n", functions);
        free(functions);
    }
    embedded_add_text(values, "arithmetic", &text);
}

int write_launcher(const struct export *export, struct strbuf *text, struct error *error) {
    const struct export_request *request = export->request;
    struct strbuf functions = {0};
    cJSON *values = embedded_values(export);
    int result = add_architecture(export, values, error);
    for (int variant = 0; variant < request->variant_count && result == 0; variant++)
        result = add_variant(export, variant, &functions, error);
    if (result < 0) {
        strbuf_release(&functions);
        cJSON_Delete(values);
        return -1;
    }
    add_arithmetic(functions.bytes, values);
    cJSON_AddBoolToObject(values, "parts", export->workspaces);
    cJSON_AddNumberToObject(values, "part_count", export->workspace_count);
    cJSON_AddBoolToObject(values, "uses_clear",
                          strstr(functions.bytes, " clear(workspace") != NULL);
    cJSON_AddBoolToObject(values, "uses_given", strstr(functions.bytes, " given(tensors") != NULL);
    cJSON_AddBoolToObject(values, "uses_uneven",
                          strstr(functions.bytes, " uneven(tensors") != NULL);
    cJSON_AddBoolToObject(values, "maps", export->template->map_count > 0);
    cJSON_AddStringToObject(values, "no_map", "{{0}}"); /* in the file it would be a hole itself */
    embedded_add_text(values, "variants", &functions);
    add_in_range(export->template, values);
    cJSON_AddBoolToObject(values, "several", request->variant_count > 1);
    embedded_add_units(export, values);
    cJSON *tuned = cJSON_AddArrayToObject(values, "tuned");
    for (int c = 0; c < export->template->case_count; c++)
        add_tuned_row(export, c, tuned);
    add_same_shape(export->template, values);
    embedded_fill(EMBEDDED_LAUNCHER, values, text);
    return 0;
}
