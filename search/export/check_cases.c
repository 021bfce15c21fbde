/* check.c, shape.h, verify.h and numbers.h, which are the same in every export, and cases.h, the
   tables and glue of check.c for this kernel: fills cases.h.in. */
#include "export/internal.h"

#include <string.h>

/* "{d[0], d[1], real(d[2])}" */
static void add_shape_glue(const struct template *template, cJSON *values) {
    struct strbuf text = {0};
    for (int d = 0; d < template->dimension_count; d++)
        strbuf_print(&text, template->dimensions[d].real ? "%sreal(d[%d])" : "%sd[%d]",
                     d > 0 ? ", " : "{", d);
    strbuf_print(&text, "%s}", template->dimension_count == 0 ? "{" : "");
    embedded_add_text(values, "shape", &text);
}

const char *scalar_type(const struct scalar *scalar) {
    return scalar->dtype == DTYPE_I32   ? "int32_t"
           : scalar->dtype == DTYPE_I64 ? "int64_t"
           : scalar->dtype == DTYPE_F32 ? "float"
                                        : "double";
}

/* "{.q = t[0], .k = t[1], .SHIFT = *(const int32_t *)t[TENSORS + CONTENTS + MAGNITUDES + 0]}" */
static void add_tensor_glue(const struct template *template, cJSON *values) {
    struct strbuf text = {0};
    int index = 0;
    strbuf_print(&text, "{");
    for (int t = 0; t < template->tensor_count; t++)
        if (is_parameter(&template->tensors[t])) {
            strbuf_print(&text, "%s.%s = t[%d]", index > 0 ? ", " : "", template->tensors[t].name,
                         index);
            index++;
        }
    for (int s = 0; s < template->scalar_count; s++)
        strbuf_print(&text, "%s.%s = *(const %s *)t[TENSORS + CONTENTS + MAGNITUDES + %d]",
                     index + s > 0 ? ", " : "", template->scalars[s].name,
                     scalar_type(&template->scalars[s]), s);
    strbuf_print(&text, "}");
    embedded_add_text(values, "tensors", &text);
}

/* "{ANYTHING, ZEROS}" */
static void add_before(const struct template *template, cJSON *values) {
    struct strbuf text = {0};
    const char *comma = "{";
    for (int t = 0; t < template->tensor_count; t++) {
        const int before = template->tensors[t].before;
        if (!is_parameter(&template->tensors[t]))
            continue;
        strbuf_print(&text, "%s%s", comma,
                     before == BEFORE_ANYTHING ? "ANYTHING"
                     : before == BEFORE_ZEROS  ? "ZEROS"
                                               : "ITS_INPUT");
        comma = ", ";
    }
    strbuf_print(&text, "}");
    embedded_add_text(values, "before", &text);
}

static bool any_real(const struct template *template) {
    for (int d = 0; d < template->dimension_count; d++)
        if (template->dimensions[d].real)
            return true;
    return false;
}

/* "{BOUND, {1, -1, 0.001, 1e-05, 0, 1}}" */
static void add_tolerances(const struct export *export, const struct launch_plan *plan,
                           struct strbuf *text) {
    const struct template *template = export->template;
    const char *comma = "{";
    for (int t = 0; t < template->tensor_count; t++) {
        const struct tolerance *tolerance = &plan->tensors[t].tolerance;
        if (!is_parameter(&template->tensors[t]))
            continue;
        strbuf_print(text, "%s", comma);
        comma = ", ";
        if (tolerance->given)
            strbuf_print(text, "{1, %d, %.17g, %.17g, %.17g, %.17g}",
                         tolerance->magnitude < 0 ? -1
                                                  : index_in_role(template, tolerance->magnitude),
                         tolerance->relative, tolerance->absolute, tolerance->of_magnitude,
                         tolerance->matched);
        else
            strbuf_print(text, "BOUND");
    }
    strbuf_print(text, "}");
}

void add_fill_file(const struct export *export, int tensor, struct strbuf *text) {
    const struct template *template = export->template;
    const struct declared_fill *declared = &template->tensors[tensor].fill;
    if (declared->fill == FILL_FILE)
        strbuf_print(text, "\"template/%s/%s\", %lld, %lld", template->name, declared->file,
                     (long long)declared->data.offset, (long long)declared->data.bytes);
    else
        strbuf_print(text, "NULL, 0, 0");
}

void add_fill(const struct export *export, int tensor, const struct tensor_fill *fill,
              struct strbuf *text) {
    strbuf_print(text, "{%d, %.17g, %.17g, ", (int)fill->fill, fill->value, fill->most);
    add_fill_file(export, tensor, text);
    strbuf_print(text, "}");
}

/* A row of the arrays that check.c has. */
static void add_array(const struct export *export, int t, const struct planned_tensor *tensor,
                      const char **comma, struct strbuf *text) {
    const struct tensor *declared = &export->template->tensors[t];
    strbuf_print(text, "%s{\"%s\", \"%s\", %d, %lld, %lld, ", *comma, declared->name,
                 dtype_name(tensor->dtype), declared->role == ROLE_OUTPUT,
                 (long long)tensor->elements * tensor->present, (long long)tensor->row);
    add_fill(export, t, &tensor->fill, text);
    strbuf_print(text, "}");
    *comma = ",\n      ";
}

/* All of them: tensors, what outputs hold before a call, magnitudes, scalars, tensors of setup. */
static void add_arrays(const struct export *export, const struct checked_shape *checked,
                       struct strbuf *text) {
    const struct template *template = export->template;
    const char *comma = "";
    for (int t = 0; t < template->tensor_count; t++)
        if (is_parameter(&template->tensors[t]))
            add_array(export, t, &checked->plan.tensors[t], &comma, text);
    for (int t = 0; t < template->tensor_count; t++)
        if (template->tensors[t].of_output)
            add_array(export, t, &checked->plan.tensors[t], &comma, text);
    for (int m = 0; m < export->magnitude_count; m++)
        strbuf_print(text, "%sNO_TENSOR", comma);
    for (int s = 0; s < template->scalar_count; s++)
        strbuf_print(text, "%s{\"%s\", \"%s\", 0, 1, 1, {%d, %.17g, %.17g, NULL, 0, 0}}", comma,
                     template->scalars[s].name, dtype_name(template->scalars[s].dtype),
                     (int)checked->plan.scalars[s].fill, checked->plan.scalars[s].value,
                     checked->plan.scalars[s].most);
    for (int t = 0; t < template->tensor_count; t++)
        if (template->tensors[t].role == ROLE_SETUP)
            add_array(export, t, &checked->own[t], &comma, text);
}

static void add_shape(const struct export *export, const struct checked_shape *checked,
                      struct strbuf *text) {
    const struct template *template = export->template;
    const struct launch_plan *plan = &checked->plan;
    strbuf_print(text, "    {\"%s\",\n     {", checked->name);
    for (int d = 0; d < template->dimension_count; d++)
        strbuf_print(text, "%s%lld", d > 0 ? ", " : "", (long long)checked->shape.values[d]);
    strbuf_print(text, "},\n     {");
    add_arrays(export, checked, text);
    strbuf_print(text, "},\n     %.6g, %.6g, %.1f, ", checked->bound.relative_l2,
                 checked->bound.row_relative_l2, (double)plan->operations);
    if (checked->record != NULL)
        strbuf_print(text, "%.4f, %.4f,\n     ", checked->record->warm.p50_us,
                     checked->record->warm.p90_us);
    else
        strbuf_print(text, "0, 0,\n     ");
    add_tolerances(export, plan, text);
    strbuf_print(text, "},\n");
}

int write_cases(const struct export *export, struct strbuf *text, struct error *error) {
    const struct template *template = export->template;
    struct strbuf device = {0};
    struct strbuf shapes = {0}, persisting = {0};
    char function[SYMBOL_SIZE];
    cJSON *values = embedded_values(export);
    if (add_shape_functions(export, values, error) < 0) {
        cJSON_Delete(values);
        return -1;
    }
    strbuf_add_quoted(&device, export->request->variants[0].key->parts[KEY_DEVICE]);
    embedded_add_text(values, "device_literal", &device);
    cJSON_AddStringToObject(values, "kind", export->request->predicted ? "predicted" : "measured");
    cJSON_AddStringToObject(values, "reference", cpu_reference_function(export, function));
    cJSON_AddBoolToObject(values, "cpu_reference", has_cpu_reference(export));
    cJSON_AddBoolToObject(values, "gpu_reference", has_gpu_reference(export));
    cJSON_AddBoolToObject(values, "default_genome", has_default_reference(export));
    cJSON_AddBoolToObject(values, "reference_source",
                          has_gpu_reference(export) && !has_default_reference(export));
    add_itself(export, values);
    cJSON_AddBoolToObject(values, "recorded",
                          template->reference_kind == REFERENCE_ANSWERS &&
                              template->cpu_reference == NULL);
    cJSON_AddBoolToObject(values, "reals", any_real(template));
    cJSON_AddNumberToObject(values, "dimension_count", template->dimension_count);
    cJSON_AddNumberToObject(values, "tensor_count", parameter_count(template));
    cJSON_AddNumberToObject(values, "contents_count", export->contents_count);
    cJSON_AddBoolToObject(values, "contents", export->contents_count > 0);
    cJSON_AddBoolToObject(values, "magnitudes", export->magnitude_count > 0);
    cJSON_AddNumberToObject(values, "magnitude_count", export->magnitude_count);
    cJSON_AddNumberToObject(values, "scalar_count", template->scalar_count);
    cJSON_AddBoolToObject(values, "scalars", template->scalar_count > 0);
    cJSON_AddNumberToObject(values, "setup_count", export->setup_count);
    cJSON_AddBoolToObject(values, "setup", template->setup.count > 0);
    cJSON_AddBoolToObject(values, "own", export->setup_count > 0);
    cJSON_AddBoolToObject(values, "persisting", persisting_tensors(export, &persisting));
    strbuf_release(&persisting);
    cJSON_AddNumberToObject(values, "shape_count", export->checked_count);
    cJSON_AddNumberToObject(values, "case_count", template->case_count);
    for (int i = 0; i < export->checked_count; i++)
        add_shape(export, &export->checked[i], &shapes);
    embedded_add_text(values, "shapes", &shapes);
    add_shape_glue(template, values);
    add_tensor_glue(template, values);
    add_before(template, values);
    embedded_fill(EMBEDDED_CASES, values, text);
    return 0;
}

int write_check(const struct export *export, struct strbuf *text, struct error *error) {
    (void)export, (void)error;
    embedded_copy(EMBEDDED_CHECK, text);
    return 0;
}

int write_shape(const struct export *export, struct strbuf *text, struct error *error) {
    (void)export, (void)error;
    embedded_copy(EMBEDDED_SHAPE, text);
    return 0;
}

int write_verify(const struct export *export, struct strbuf *text, struct error *error) {
    (void)export, (void)error;
    embedded_copy(EMBEDDED_VERIFY, text);
    return 0;
}

int write_fills(const struct export *export, struct strbuf *text, struct error *error) {
    (void)export, (void)error;
    embedded_copy(EMBEDDED_FILLS, text);
    return 0;
}

int write_numbers(const struct export *export, struct strbuf *text, struct error *error) {
    (void)export, (void)error;
    embedded_copy(EMBEDDED_NUMBERS, text);
    return 0;
}
