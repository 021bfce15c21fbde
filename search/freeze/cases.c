/* cases.h: what check.c knows of this kernel, as tables. */
#include "freeze/parts.h"

#include <string.h>

/* "const struct NAME_shape shape = {d[0], d[1], real(d[2])};" */
static void add_glued_shape(const struct export *export, struct text *text) {
    const struct template *template = export->template;
    text_print(text, "    const struct %s_shape shape = {", export->name);
    for (int d = 0; d < template->dimension_count; d++)
        text_print(text, template->dimensions[d].real ? "%sreal(d[%d])" : "%sd[%d]",
                   d > 0 ? ", " : "", d);
    text_print(text, "};\n");
}

static bool any_real(const struct template *template) {
    for (int d = 0; d < template->dimension_count; d++)
        if (template->dimensions[d].real)
            return true;
    return false;
}

static void add_glue(const struct export *export, struct text *text) {
    const struct template *template = export->template;
    const char *name = export->name;
    if (any_real(template))
        text_print(text, "/* Among the dimensions a real one is the bits of a float. */\n"
                         "static float real(int64_t bits)\n{\n"
                         "    const uint32_t word = (uint32_t)bits;\n    float number;\n"
                         "    memcpy(&number, &word, sizeof number);\n    return number;\n}\n\n");
    text_print(text, "static int64_t kernel_workspace_bytes(const int64_t *d)\n{\n");
    add_glued_shape(export, text);
    text_print(text,
               "    return %s_workspace_bytes(&shape);\n}\n\n"
               "static int kernel_launch(const int64_t *d, void *const *t, void *workspace,\n"
               "                         int64_t workspace_bytes, cudaStream_t stream)\n{\n",
               name);
    add_glued_shape(export, text);
    text_print(text, "    const struct %s_tensors tensors = {", name);
    for (int t = 0, index = 0; t < template->tensor_count; t++)
        if (template->tensors[t].role != ROLE_WORKSPACE) {
            text_print(text, "%s.%s = t[%d]", index > 0 ? ", " : "", template->tensors[t].name,
                       index);
            index++;
        }
    text_print(text,
               "};\n    return %s_launch(&shape, &tensors, workspace, (size_t)workspace_bytes, "
               "stream);\n}\n\n#define kernel_error_string %s_error_string\n\n",
               name, name);
}

static void add_shape(const struct export *export, const struct checked_shape *checked,
                      struct text *text) {
    const struct template *template = export->template;
    const struct plan *plan = &checked->plan;
    text_print(text, "    {\"%s\",\n     {", checked->name);
    for (int d = 0; d < template->dimension_count; d++)
        text_print(text, "%s%lld", d > 0 ? ", " : "", (long long)checked->shape.values[d]);
    text_print(text, "},\n     {");
    const char *comma = "";
    for (int t = 0; t < template->tensor_count; t++) {
        const struct planned_tensor *tensor = &plan->tensors[t];
        if (template->tensors[t].role == ROLE_WORKSPACE)
            continue;
        text_print(text, "%s{\"%s\", \"%s\", %d, %lld, %lld}", comma, template->tensors[t].name,
                   dtype_name(tensor->dtype), template->tensors[t].role == ROLE_OUTPUT,
                   (long long)tensor->elements * tensor->present, (long long)tensor->row);
        comma = ",\n      ";
    }
    text_print(text, "},\n     %.6g, %.6g, %.1f, ", checked->bound.relative_l2,
               checked->bound.row_relative_l2, (double)plan->operations);
    if (checked->record != NULL)
        text_print(text, "%.4f, %.4f},\n", checked->record->warm.p50_us,
                   checked->record->warm.p90_us);
    else
        text_print(text, "0, 0},\n");
}

int write_cases(const struct export *export, struct text *text, struct error *error) {
    const struct template *template = export->template;
    (void)error;
    text_print(text,
               "/* What check.c knows of %s. Written by evotile: do not edit. */\n"
               "#pragma once\n"
               "#include \"%s.h\"\n\n"
               "#define KERNEL \"%s\"\n"
               "#define RECORD_KIND \"%s\"\n"
               "#define RECORD_DEVICE ",
               export->name, export->name, export->name,
               export->request->predicted ? "predicted" : "measured");
    text_quote(text, export->request->units[0].key->parts[KEY_DEVICE]);
    text_print(text,
               "\n\n%senum {\n    DIMENSIONS = %d,\n    TENSORS = %d, /* without workspaces */\n"
               "    SHAPES = %d,\n    CASES = %d, /* the first of the shapes; these are timed */\n"
               "};\n\n",
               any_real(template) ? "#include <string.h>\n\n" : "", template->dimension_count,
               template->tensor_count - export->workspace_count, export->checked_count,
               template->case_count);
    text_print(
        text,
        "/* In double precision on the CPU: the dimensions in the order of %s_shape, inputs as "
        "stored, outputs\n   as doubles. */\n"
        "void %s(const int64_t *dimensions, void *const *tensors);\n"
        "#define kernel_reference %s\n\n",
        export->name, template->cpu_reference_function, template->cpu_reference_function);
    text_print(text, "struct tensor {\n"
                     "    const char *name, *dtype;\n"
                     "    int is_output;\n"
                     "    int64_t elements, row; /* no elements: not there for this shape */\n"
                     "};\n\n"
                     "struct checked_shape {\n"
                     "    const char *name;\n"
                     "    int64_t dimensions[DIMENSIONS];\n"
                     "    struct tensor tensors[TENSORS];\n"
                     "    double relative_l2, row_relative_l2; /* the most that is right */\n"
                     "    double operations;\n"
                     "    double p50_us, p90_us; /* as recorded at the export */\n"
                     "};\n\n"
                     "static const struct checked_shape shapes[SHAPES] = {\n");
    for (int i = 0; i < export->checked_count; i++)
        add_shape(export, &export->checked[i], text);
    text_print(text, "};\n\n");
    add_glue(export, text);
    return 0;
}
