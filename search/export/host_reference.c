/* reference.cpp: a reference in `real`, compiled for the host, where its threads run one after the
   other. */
#include "export/code.h"

#include <string.h>

const char *cpu_reference_file(const struct export *export) {
    const struct template *template = export->template;
    return template->cpu_reference == NULL && template->real ? "reference.cpp" : "reference.c";
}

bool has_cpu_reference(const struct export *export) {
    return !has_default_reference(export);
}

bool has_gpu_reference(const struct export *export) {
    return export->template->reference_kind == REFERENCE_KERNEL || has_default_reference(export);
}

const char *cpu_reference_function(const struct export *export, char name[SYMBOL_SIZE]) {
    const struct template *template = export->template;
    if (template->cpu_reference != NULL)
        return template->cpu_reference_function;
    snprintf(name, SYMBOL_SIZE, "%s_on_host", export->name);
    return name;
}

/* The shape and the tensors as the launches' expressions name them. */
static void add_types(const struct export *export, struct strbuf *text) {
    const struct template *template = export->template;
    strbuf_print(text, "\nstruct evotile_shape {\n");
    for (int d = 0; d < template->dimension_count; d++)
        strbuf_print(text, "    %s %s;\n", template->dimensions[d].real ? "float" : "int64_t",
                     template->dimensions[d].name);
    strbuf_print(text, "};\n\nstruct evotile_tensors {\n");
    for (int t = 0; t < template->tensor_count; t++)
        if (is_parameter(&template->tensors[t]))
            strbuf_print(text, "    void *%s;\n", template->tensors[t].name);
    for (int t = 0; t < template->tensor_count; t++)
        if (is_parameter(&template->tensors[t]) && template->tensors[t].strided)
            strbuf_print(text, "    const int64_t *%s_strides;\n", template->tensors[t].name);
    for (int s = 0; s < template->scalar_count; s++)
        strbuf_print(text, "    %s %s;\n", scalar_type(&template->scalars[s]),
                     template->scalars[s].name);
    strbuf_print(text, "};\n\n");
}

/* The function that check.c calls. */
static void add_entry(const struct export *export, struct strbuf *text) {
    const struct template *template = export->template;
    char function[SYMBOL_SIZE];
    int index = 0;
    strbuf_print(text,
                 "extern \"C\" void %s(const int64_t *dimensions, void *const *tensors)\n{\n"
                 "    evotile_shape shape;\n    evotile_tensors named = {};\n",
                 cpu_reference_function(export, function));
    for (int d = 0; d < template->dimension_count; d++) {
        const char *name = template->dimensions[d].name;
        strbuf_print(text,
                     template->dimensions[d].real
                         ? "    shape.%s = __uint_as_float((unsigned)dimensions[%d]);\n"
                         : "    shape.%s = dimensions[%d];\n",
                     name, d);
    }
    for (int t = 0; t < template->tensor_count; t++)
        if (is_parameter(&template->tensors[t]))
            strbuf_print(text, "    named.%s = tensors[%d];\n", template->tensors[t].name, index++);
    for (int s = 0; s < template->scalar_count; s++)
        strbuf_print(text, "    named.%s = *(const %s *)tensors[%d];\n", template->scalars[s].name,
                     scalar_type(&template->scalars[s]),
                     index + export->contents_count + export->magnitude_count + s);
    strbuf_print(text, "    evotile_run(&shape, &named, tensors + %d, tensors + %d);\n}\n", index,
                 index + export->contents_count);
}

/* Copies inputs to the variables that the kernels read them from. */
static void add_variables(const struct code_writer *writer, struct strbuf *body) {
    const struct template *template = writer->template;
    for (int t = 0; t < template->tensor_count; t++) {
        const struct tensor *tensor = &template->tensors[t];
        const char *symbol = template_symbol(template, writer->launches, t);
        if (symbol == NULL || code_truth(writer, tensor->when) == 0)
            continue;
        code_add_guard(writer, tensor->when, body);
        strbuf_print(body, "\n        memcpy(&%s, tensors->%s, (size_t)((", symbol, tensor->name);
        code_add_element_bytes(writer, tensor, body);
        strbuf_print(body, ")");
        for (int i = 0; i < tensor->rank; i++) {
            strbuf_print(body, " * (");
            expr_to_c_add(writer->printer, tensor->shape[i], body);
            strbuf_print(body, ")");
        }
        strbuf_print(body, "));\n");
    }
}

static void add_run(struct code_writer *writer) {
    static const char *const parameters[] = {"shape", "tensors", "before", "magnitudes", NULL};
    struct strbuf opening = {0}, body = {0};
    strbuf_print(
        &opening,
        "static void evotile_run(const evotile_shape *shape, const evotile_tensors "
        "*tensors,\n                        void *const *before, void *const *magnitudes)\n{\n"
        "    const int status = 0;\n");
    strbuf_add(&body, "", 0);
    add_variables(writer, &body);
    code_add_launches(writer, &body);
    strbuf_print(&body, "    (void)status;\n");
    code_add_function(writer->printer, &opening, parameters, &body, writer->text);
}

int write_host_reference(const struct export *export, struct strbuf *text, struct error *error) {
    struct code_writer writer;
    struct strbuf function = {0};
    cJSON *values = cJSON_CreateObject();
    char *source = template_reference_source(export->template, error);
    if (source == NULL || code_writer_init(&writer, export, 0, &function, error) < 0) {
        free(source);
        cJSON_Delete(values);
        return -1;
    }
    writer.host = true;
    add_run(&writer);
    code_writer_release(&writer);
    strbuf_print(
        text,
        "// reference.cpp: reference.cu for the host, which check.c compares small shapes "
        "with.\n// Exported by evotile from the template's %s. Generated: do not edit.\n\n",
        export->template->reference_source);
    embedded_copy(EMBEDDED_HOST, text);
    strbuf_print(text, "\n// ---- the reference ----\n\n%s\n// ---- its launches ----\n", source);
    code_add_arithmetic(function.bytes, values);
    const cJSON *arithmetic = cJSON_GetObjectItem(values, "arithmetic");
    strbuf_print(text, "\n%s\n", arithmetic->valuestring);
    add_types(export, text);
    strbuf_print(text, "%s", function.bytes);
    add_entry(export, text);
    strbuf_release(&function);
    cJSON_Delete(values);
    free(source);
    return 0;
}
