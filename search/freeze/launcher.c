/* NAME.c, the launcher: fills launcher.c.in. variant.c writes the functions of each variant. */
#include "freeze/parts.h"
#include "freeze/unit.h"

#include <string.h>

/* Adds a float literal: 0.25f, 1e-05f, 3.0f. */
static void add_real(float value, struct text *text) {
    char number[NAME_SIZE];
    dimension_print_real(value, number);
    text_print(text, "%s%sf", number, number[strcspn(number, ".e")] == '\0' ? ".0" : "");
}

static void add_real_range(const struct dimension *dimension, struct text *text) {
    text_print(text, "shape->%s >= ", dimension->name);
    add_real(dimension->least, text);
    text_print(text, " && shape->%s <= ", dimension->name);
    add_real(dimension->most, text);
}

static void add_in_range(const struct template *template, cJSON *values) {
    struct text text = {0};
    for (int d = 0; d < template->dimension_count; d++) {
        const struct dimension *dimension = &template->dimensions[d];
        text_print(&text, "%s", d > 0 ? " &&\n           " : "");
        if (dimension->real) {
            add_real_range(dimension, &text);
        } else if (dimension->value_count > 0) {
            text_print(&text, "(");
            for (int i = 0; i < dimension->value_count; i++)
                text_print(&text, "%sshape->%s == %lld", i > 0 ? " || " : "", dimension->name,
                           (long long)dimension->values[i]);
            text_print(&text, ")");
        } else {
            text_print(&text, "shape->%s >= %lld && shape->%s <= %lld", dimension->name,
                       (long long)dimension->minimum, dimension->name,
                       (long long)dimension->maximum);
        }
    }
    text_print(&text, "%s", template->dimension_count == 0 ? "1" : "");
    embedded_add_text(values, "in_range", &text);
}

static void add_same_shape(const struct template *template, cJSON *values) {
    struct text text = {0};
    for (int d = 0; d < template->dimension_count; d++)
        text_print(&text, "%sa->%s == b->%s", d > 0 ? " &&\n           " : "",
                   template->dimensions[d].name, template->dimensions[d].name);
    text_print(&text, "%s", template->dimension_count == 0 ? "1" : "");
    embedded_add_text(values, "same_shape", &text);
}

/* A row of the table `tuned`: "{{64, 512, 0}, 0, 32768.0}". */
static void add_tuned_row(const struct export *export, int index, cJSON *rows) {
    const struct template *template = export->template;
    struct text text = {0};
    text_print(&text, "{{");
    for (int d = 0; d < template->dimension_count; d++) {
        int64_t value = template->cases[index].values[d];
        text_print(&text, "%s", d > 0 ? ", " : "");
        if (template->dimensions[d].real)
            add_real(dimension_real(value), &text);
        else
            text_print(&text, "%lld", (long long)value);
    }
    text_print(&text, "}, %d, %.1f}", export->request->cases[index].unit,
               (double)export->checked[index].plan.operations);
    cJSON *row = cJSON_CreateObject();
    cJSON_AddItemToArray(rows, row);
    embedded_add_text(row, "row", &text);
}

static int add_architecture(const struct export *export, cJSON *values, struct error *error) {
    char architecture[NAME_SIZE] = "";
    struct text options = {0};
    int result = unit_options(export, 0, architecture, &options, error);
    cJSON_AddStringToObject(values, "architecture", architecture);
    text_release(&options);
    return result;
}

/* The integer functions that printed expressions call; empty if the variants call none. */
static void add_arithmetic(const char *variants, cJSON *values) {
    static const char *const calls[] = {FORMULA_PREFIX "min(", FORMULA_PREFIX "max(",
                                        FORMULA_PREFIX "ceil_div(", FORMULA_PREFIX "log2("};
    size_t length = expression_print_functions(FORMULA_PREFIX, NULL, 0);
    bool called = false;
    struct text text = {0};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        called = called || strstr(variants, calls[i]) != NULL;
    if (called) {
        char *functions = malloc(length + 1);
        if (functions == NULL)
            BUG("out of memory");
        expression_print_functions(FORMULA_PREFIX, functions, length + 1);
        text_print(&text, "%s\n", functions);
        free(functions);
    }
    embedded_add_text(values, "arithmetic", &text);
}

int write_launcher(const struct export *export, struct text *text, struct error *error) {
    const struct freeze_request *request = export->request;
    struct text functions = {0};
    cJSON *values = embedded_values(export);
    int result = add_architecture(export, values, error);
    for (int unit = 0; unit < request->unit_count && result == 0; unit++)
        result = add_unit(export, unit, &functions, error);
    if (result < 0) {
        text_release(&functions);
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
    cJSON_AddBoolToObject(values, "several", request->unit_count > 1);
    cJSON *units = cJSON_AddArrayToObject(values, "units");
    for (int unit = 1; unit <= request->unit_count; unit++) {
        cJSON *object = cJSON_CreateObject();
        cJSON_AddItemToArray(units, object);
        cJSON_AddNumberToObject(object, "number", unit);
    }
    cJSON *tuned = cJSON_AddArrayToObject(values, "tuned");
    for (int c = 0; c < export->template->case_count; c++)
        add_tuned_row(export, c, tuned);
    add_same_shape(export->template, values);
    embedded_fill(EMBEDDED_LAUNCHER, values, text);
    return 0;
}
