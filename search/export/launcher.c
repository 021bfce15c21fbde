/* NAME.c, the launcher: fills launcher.c.in. variant.c writes the functions of each variant. */
#include "base/memory.h"
#include "export/code.h"
#include "export/dispatch.h"
#include "export/variant.h"

#include <string.h>

void add_real_literal(float value, struct strbuf *text) {
    char number[NAME_SIZE];
    dimension_print_real(value, number);
    strbuf_print(text, "%s%sf", number, number[strcspn(number, ".e")] == '\0' ? ".0" : "");
}

static void add_real_range(const struct dimension *dimension, struct strbuf *text) {
    strbuf_print(text, "shape->%s >= ", dimension->name);
    add_real_literal(dimension->least, text);
    strbuf_print(text, " && shape->%s <= ", dimension->name);
    add_real_literal(dimension->most, text);
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

/* Conditions on each dimension: the two in `format`, whose two holes are its name. */
static void add_conditions(const struct template *template, const char *key, const char *format,
                           cJSON *values) {
    struct strbuf text = {0};
    for (int d = 0; d < template->dimension_count; d++) {
        strbuf_print(&text, "%s", d > 0 ? " &&\n           " : "");
        strbuf_print(&text, format, template->dimensions[d].name, template->dimensions[d].name,
                     template->dimensions[d].name, template->dimensions[d].name);
    }
    strbuf_print(&text, "%s", template->dimension_count == 0 ? "1" : "");
    embedded_add_text(values, key, &text);
}

/* "{64, 512, 0.25f}" */
static void add_shape(const struct template *template, const struct shape *shape,
                      struct strbuf *text) {
    for (int d = 0; d < template->dimension_count; d++) {
        strbuf_print(text, "%s", d > 0 ? ", " : "{");
        if (template->dimensions[d].real)
            add_real_literal(dimension_real(shape->values[d]), text);
        else
            strbuf_print(text, "%lld", (long long)shape->values[d]);
    }
    strbuf_print(text, "%s}", template->dimension_count == 0 ? "{" : "");
}

/* A row of the table `tuned`: "{{64, 512, 0}, 0, 32768.0}". */
static void add_tuned_row(const struct export *export, int index, int unit, cJSON *rows) {
    const struct template *template = export->template;
    struct strbuf text = {0};
    strbuf_print(&text, "{");
    add_shape(template, &template->cases[index], &text);
    strbuf_print(&text, ", %d, %.1f}", unit, (double)export->checked[index].plan.operations);
    cJSON *row = cJSON_CreateObject();
    cJSON_AddItemToArray(rows, row);
    embedded_add_text(row, "row", &text);
}

/* `least` and `most` of each unit. A range of no shapes is empty. */
static void add_ranges(const struct export *export, cJSON *units) {
    const struct template *template = export->template;
    int variant = 0;
    cJSON *unit;
    cJSON_ArrayForEach(unit, units) {
        const struct verified_range *range = &export->verified[variant++];
        struct shape empty = range->most;
        struct strbuf least = {0};
        struct strbuf most = {0};
        for (int d = 0; d < template->dimension_count && range->shapes == 0; d++)
            if (!template->dimensions[d].real)
                empty.values[d] = -1;
        add_shape(template, &range->least, &least);
        add_shape(template, &empty, &most);
        embedded_add_text(unit, "least", &least);
        embedded_add_text(unit, "most", &most);
    }
}

/* The default genome's variant that serves a case, from 0. */
static int find_reference(const struct export *export, int case_index) {
    const struct export_variant *variants = export->request->variants;
    const int compiled = template_variant(export->template, case_index);
    int unit = 0;
    while (variants[export->request->variant_count + unit].case_index != compiled)
        unit++;
    return unit;
}

/* Writes the launcher of the variants, or of those that are the reference. */
static int write_units(const struct export *export, bool reference, struct strbuf *text,
                       struct error *error) {
    const struct export_request *request = export->request;
    const int first = reference ? request->variant_count : 0;
    const int count = reference ? request->reference_count : request->variant_count;
    const bool workspaces = reference ? export->reference_workspaces : export->workspaces;
    char function[NAME_SIZE + 16];
    struct strbuf functions = {0};
    cJSON *values = embedded_values(export);
    int result = code_add_kernel_launching(export, values, error);
    for (int variant = first; variant < first + count && result == 0; variant++)
        result = add_variant(export, variant, &functions, error);
    if (result < 0) {
        strbuf_release(&functions);
        cJSON_Delete(values);
        return -1;
    }
    code_add_arithmetic(functions.bytes, values);
    snprintf(function, sizeof function, "%s%s", export->name, reference ? "_reference" : "");
    cJSON_AddStringToObject(values, "function", function);
    cJSON_AddBoolToObject(values, "reference", reference);
    cJSON_AddBoolToObject(values, "parts", workspaces);
    cJSON_AddNumberToObject(values, "part_count", export->workspace_count);
    cJSON_AddBoolToObject(values, "uses_clear",
                          strstr(functions.bytes, " clear(workspace") != NULL);
    cJSON_AddBoolToObject(values, "uses_given", strstr(functions.bytes, " given(tensors") != NULL);
    cJSON_AddBoolToObject(values, "uses_uneven",
                          strstr(functions.bytes, " uneven(tensors") != NULL);
    cJSON_AddStringToObject(values, "no_map", "{{0}}"); /* in the file it would be a hole itself */
    embedded_add_text(values, "variants", &functions);
    add_in_range(export->template, values);
    const bool by_tree = !reference && dispatch_is_exported(export);
    cJSON_AddBoolToObject(values, "by_tree", by_tree);
    cJSON_AddBoolToObject(values, "several", count > 1 && !by_tree);
    cJSON_AddBoolToObject(values, "one", count == 1);
    if (by_tree)
        dispatch_add_tree(export, values);
    cJSON *units = embedded_add_units(values, "units", first, count);
    if (!reference)
        add_ranges(export, units);
    cJSON *tuned = cJSON_AddArrayToObject(values, "tuned");
    for (int c = 0; c < export->template->case_count; c++)
        add_tuned_row(export, c, reference ? find_reference(export, c) : request->cases[c].variant,
                      tuned);
    add_conditions(export->template, "same_shape", "a->%s == b->%s", values);
    add_conditions(export->template, "verified",
                   "shape->%s >= unit->least.%s && shape->%s <= unit->most.%s", values);
    embedded_fill(EMBEDDED_LAUNCHER, values, text);
    return 0;
}

int write_launcher(const struct export *export, struct strbuf *text, struct error *error) {
    return write_units(export, false, text, error);
}

int write_default_launch(const struct export *export, struct strbuf *text, struct error *error) {
    return write_units(export, true, text, error);
}
