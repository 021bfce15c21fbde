/* reference.cu, the template's reference in CUDA, and reference_launch.c, which launches it. */
#include "export/code.h"

#include "device/kernel_names.h"

#include <string.h>

/* Adds a function with the addresses of kernels that are C++ templates, if there are any. */
static void add_kernel_function(const struct launch_list *launches, struct strbuf *text) {
    struct kernel_list kernels;
    launch_list_kernels(launches, &kernels);
    if (kernels.count == 0)
        return;
    strbuf_print(text, "\n#ifndef __CUDACC_RTC__\n"
                       "// nvcc compiles kernels that are C++ templates only where host code names "
                       "them.\n"
                       "const void *evotile_kernel(int index) {\n"
                       "    const void *const kernels[] = {");
    add_kernel_addresses(&kernels, text);
    strbuf_print(text, "};\n    return kernels[index];\n}\n#endif\n");
}

int write_reference_source(const struct export *export, struct strbuf *text, struct error *error) {
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
    add_kernel_function(&export->template->reference, text);
    return 0;
}

/* What differs between the two programs that check.c runs on the GPU. */
struct program {
    const char *name;      /* of the file, its machine code and its function */
    const char *about;     /* of the function's arguments */
    const char *parameter; /* further addresses; NULL: none */
    const char *kernels;   /* as in struct device_image */
    const struct launch_list *launches;
};

/* "int NAME_gpu_setup(const struct NAME_shape *shape, ..." */
static void add_function(struct code_writer *writer, const struct program *program) {
    const bool before = writer->export->contents_count > 0, more = program->parameter != NULL;
    const char *const last = before ? program->parameter : NULL;
    const char *const parameters[] = {
        "shape", "tensors", "stream", before ? "before" : program->parameter, last, NULL};
    const char *name = writer->export->name;
    struct strbuf opening = {0}, body = {0};
    char cubin[NAME_SIZE + 24];
    snprintf(cubin, sizeof cubin, "%s_%s_cubin", name, program->name);
    add_upper_name(writer->export, writer->text);
    strbuf_print(writer->text, "_CUBIN(%s, \"%s.cubin\");\n", cubin, program->name);
    code_add_kernels(writer, cubin);
    strbuf_print(&opening,
                 "\n/* %s%s. */\nint %s_gpu_%s(const struct %s_shape *shape, const struct "
                 "%s_tensors *tensors,\n        %s%s%s%scudaStream_t stream)\n{\n"
                 "    int status = 0;\n",
                 program->about, before ? "; `before` has what outputs hold before a call" : "",
                 name, program->name, name, name, before ? "void *const *before, " : "",
                 more ? "void *const *" : "", more ? program->parameter : "", more ? ", " : "");
    if (program->launches == &writer->template->reference)
        code_add_variables(writer, &body);
    code_add_launches(writer, &body);
    strbuf_print(&body, "    return status;\n");
    code_add_function(writer->printer, &opening, parameters, &body, writer->text);
}

static int write_launch(const struct export *export, const struct program *program,
                        struct strbuf *text, struct error *error) {
    struct code_writer writer;
    struct strbuf function = {0};
    cJSON *values = embedded_values(export);
    if (code_add_launching(export, program->launches, false, values, error) < 0 ||
        code_writer_init(&writer, export, 0, &function, error) < 0) {
        cJSON_Delete(values);
        return -1;
    }
    free(writer.kernels);
    writer.kernels = kernel_names_copy(program->kernels);
    writer.launches = program->launches;
    add_function(&writer, program);
    code_writer_release(&writer);
    code_add_arithmetic(function.bytes, values);
    function.bytes[--function.used] = '\0'; /* the file ends in one line end */
    cJSON_AddStringToObject(values, "what", program->name);
    embedded_add_text(values, "reference", &function);
    embedded_fill(EMBEDDED_REFERENCE_LAUNCH, values, text);
    return 0;
}

int write_reference_launch(const struct export *export, struct strbuf *text, struct error *error) {
    const bool magnitudes = export->magnitude_count > 0;
    const struct program program = {
        "reference",
        magnitudes ? "`tensors` has the inputs as stored and the outputs as doubles, of i64 as "
                     "int64_t, `magnitudes` those of their terms"
                   : "`tensors` has the inputs as stored and the outputs as doubles, of i64 as "
                     "int64_t",
        magnitudes ? "magnitudes" : NULL, export->request->reference_kernels,
        &export->template->reference};
    return write_launch(export, &program, text, error);
}

int write_setup_source(const struct export *export, struct strbuf *text, struct error *error) {
    char *source = template_setup_source(export->template, error);
    if (source == NULL)
        return -1;
    strbuf_print(text,
                 "// setup.cu: what makes inputs of %s for check.c. Exported by evotile from the\n"
                 "// template's %s with its includes inlined. Generated: do not edit.\n\n",
                 export->template->name, export->template->setup_source);
    strbuf_add(text, source, strlen(source));
    free(source);
    add_kernel_function(&export->template->setup, text);
    return 0;
}

int write_setup_launch(const struct export *export, struct strbuf *text, struct error *error) {
    const struct program program = {
        "setup", "Writes inputs, which `tensors` has, from others and from tensors of its `own`",
        export->setup_count > 0 ? "own" : NULL, export->request->setup_kernels,
        &export->template->setup};
    return write_launch(export, &program, text, error);
}
