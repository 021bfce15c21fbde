/* reference.cu, the template's reference in CUDA, and reference_launch.c, which launches it. */
#include "export/code.h"

#include <string.h>

int write_reference_source(const struct export *export, struct strbuf *text, struct error *error) {
    struct kernel_list kernels;
    char *source = template_reference_source(export->template, error);
    if (source == NULL)
        return -1;
    strbuf_print(
        text,
        "// reference.cu: what %s computes, in double precision. Exported by evotile from\n"
        "// the template's %s with its includes inlined. Generated: do not edit.\n"
        "//\n"
        "// check.c compares large shapes with it, and compares it with reference.c.\n\n",
        export->template->name, export->template->reference_source);
    strbuf_add(text, source, strlen(source));
    free(source);
    launch_list_kernels(&export->template->reference, &kernels);
    if (kernels.count == 0)
        return 0;
    strbuf_print(text,
                 "\n// nvcc compiles kernels that are C++ templates only where host code names "
                 "them.\n"
                 "const void *evotile_kernel(int index) {\n"
                 "    const void *const kernels[] = {");
    add_kernel_addresses(&kernels, text);
    strbuf_print(text, "};\n    return kernels[index];\n}\n");
    return 0;
}

static void add_function(struct code_writer *writer) {
    static const char *const parameters[] = {"shape",      "tensors", "before",
                                             "magnitudes", "stream",  NULL};
    const struct export *export = writer->export;
    const bool before = export->contents_count > 0, magnitudes = export->magnitude_count > 0;
    const char *listed[sizeof parameters / sizeof *parameters];
    const char *name = export->name;
    struct strbuf opening = {0}, body = {0};
    char cubin[NAME_SIZE + 24];
    int count = 0;
    for (int i = 0; parameters[i] != NULL; i++)
        if ((i != 2 || before) && (i != 3 || magnitudes))
            listed[count++] = parameters[i];
    listed[count] = NULL;
    snprintf(cubin, sizeof cubin, "%s_reference_cubin", name);
    add_upper_name(export, writer->text);
    strbuf_print(writer->text, "_CUBIN(%s, \"reference.cubin\");\n", cubin);
    code_add_kernels(writer, cubin);
    strbuf_print(&opening,
                 "\n/* `tensors` has the inputs as stored and the outputs as doubles, of i64 as "
                 "int64_t%s%s. */\n"
                 "int %s_gpu_reference(const struct %s_shape *shape, const struct %s_tensors "
                 "*tensors,\n"
                 "        %s%scudaStream_t stream)\n{\n    int status = 0;\n",
                 before ? ", `before` what outputs hold before a call" : "",
                 magnitudes ? ", `magnitudes` those of their terms" : "", name, name, name,
                 before ? "const void *const *before, " : "",
                 magnitudes ? "void *const *magnitudes, " : "");
    code_add_variables(writer, &body);
    code_add_launches(writer, &body);
    strbuf_print(&body, "    return status;\n");
    code_add_function(writer->printer, &opening, listed, &body, writer->text);
}

int write_reference_launch(const struct export *export, struct strbuf *text, struct error *error) {
    struct code_writer writer;
    struct strbuf function = {0};
    cJSON *values = embedded_values(export);
    if (code_add_launching(export, &export->template->reference, false, values, error) < 0 ||
        code_writer_init(&writer, export, 0, &function, error) < 0) {
        cJSON_Delete(values);
        return -1;
    }
    add_function(&writer);
    code_writer_release(&writer);
    code_add_arithmetic(function.bytes, values);
    function.bytes[--function.used] = '\0'; /* the file ends in one line end */
    embedded_add_text(values, "reference", &function);
    embedded_fill(EMBEDDED_REFERENCE_LAUNCH, values, text);
    return 0;
}
