/* NAME.h: the manual of the launcher. */
#include "device/device.h"
#include "freeze/parts.h"

#include <string.h>

static void add_cases(const struct export *export, struct text *text) {
    const struct freeze_request *request = export->request;
    text_print(text, " *\n * Tuned on %s for these shapes (%s p50 of a call):\n",
               request->setting->device->name, request->predicted ? "predicted" : "measured");
    for (int c = 0; c < export->template->case_count; c++)
        text_print(text, " *     %-32s %8.2f us\n", export->checked[c].name,
                   export->checked[c].record->warm.p50_us);
    text_print(text, " * Other shapes run too where the kernel%s admit%s them.\n",
               request->unit_count > 1 ? "s" : "", request->unit_count > 1 ? "" : "s");
}

static void add_manual(const struct export *export, struct text *text) {
    const char *name = export->name;
    text_print(text, "/*\n * %s: %s, frozen by evotile. Written by a program: do not edit.\n *\n",
               name, export->template->name);
    text_wrap(text, " * ", export->template->about);
    add_cases(export, text);
    text_print(text,
               " *\n"
               " *     struct %s_shape shape = {...};\n"
               " *     struct %s_tensors tensors = {...};           // device pointers\n"
               " *     int64_t bytes = %s_workspace_bytes(&shape);  // then cudaMalloc, where > 0\n"
               " *     int status = %s_launch(&shape, &tensors, workspace, bytes, stream);\n"
               " *     if (status != 0)\n"
               " *         puts(%s_error_string(status));\n"
               " *\n"
               " * Calls may come from any thread, on any device of that architecture that is "
               "current, and be captured\n"
               " * in a graph: they allocate nothing and wait for nothing, but for the first on a "
               "device, which loads\n"
               " * the machine code there (milliseconds). Calls that overlap in time need a "
               "workspace each.\n"
               " */\n",
               name, name, name, name, name);
}

static void add_shape(const struct export *export, struct text *text) {
    const struct template *template = export->template;
    text_print(text, "/* The shape of the problem. */\nstruct %s_shape {\n", export->name);
    for (int d = 0; d < template->dimension_count; d++) {
        const struct dimension *dimension = &template->dimensions[d];
        text_print(text, "    %s %s; /* ", dimension->real ? "float" : "int64_t", dimension->name);
        text_comment(text, dimension->about, strlen(dimension->about));
        text_print(text, " */\n");
    }
    text_print(text, "};\n\n");
}

static const char *derived_text(const struct template *template, int slot) {
    int d = 0;
    while (template->space->derived[d].slot != slot)
        d++;
    return expression_text(template->space->derived[d].expression);
}

/* After all addresses, so that these may be listed without. */
static void add_strides(const struct template *template, struct text *text) {
    bool first = true;
    for (int t = 0; t < template->tensor_count; t++) {
        const struct tensor *tensor = &template->tensors[t];
        if (!tensor->strided)
            continue;
        if (first)
            text_print(text,
                       "    /* Elements from one to the next of each extent but the last, which is "
                       "dense, in the order of the\n       extents above: any layout in which "
                       "each begins at multiples of 16 bytes. All 0: */\n");
        first = false;
        text_print(text, "    int64_t %s_strides[%d]; /* ", tensor->name, tensor->rank - 1);
        for (int i = 0; i < tensor->rank - 1; i++)
            text_print(text, "%s%s", i > 0 ? ", " : "", derived_text(template, tensor->strides[i]));
        text_print(text, " */\n");
    }
}

static void add_tensors(const struct export *export, struct text *text) {
    const struct template *template = export->template;
    text_print(text,
               "/* Addresses in the memory of the device, aligned to 16 bytes; dense, the last "
               "extent fastest, but for\n   those that have strides. */\nstruct %s_tensors {\n",
               export->name);
    for (int t = 0; t < template->tensor_count; t++) {
        const struct tensor *tensor = &template->tensors[t];
        if (tensor->role == ROLE_WORKSPACE)
            continue;
        text_print(text, "    %svoid *%s; /* ", tensor->role == ROLE_INPUT ? "const " : "",
                   tensor->name);
        if (tensor->dtype_when != NULL)
            text_print(text, "%s if %s, else %s", dtype_name(tensor->dtype),
                       expression_text(tensor->dtype_when), dtype_name(tensor->other_dtype));
        else
            text_print(text, "%s", dtype_name(tensor->dtype));
        for (int i = 0; i < tensor->rank; i++)
            text_print(text, "%s%s", i == 0 ? " [" : ", ", expression_text(tensor->shape[i]));
        text_print(text, "]%s%s */\n", tensor->when != NULL ? "; NULL unless " : "",
                   tensor->when != NULL ? expression_text(tensor->when) : "");
    }
    add_strides(template, text);
    text_print(text, "};\n\n");
}

int write_header(const struct export *export, struct text *text, struct error *error) {
    (void)error;
    const char *name = export->name;
    struct text upper = {0};
    add_upper(export, &upper);
    add_manual(export, text);
    text_print(text,
               "#ifndef %s_H\n#define %s_H\n\n"
               "#include <cuda_runtime_api.h>\n#include <stddef.h>\n#include <stdint.h>\n\n"
               "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n",
               upper.bytes, upper.bytes);
    add_shape(export, text);
    add_tensors(export, text);
    text_print(
        text,
        "/* Why a call was refused. Positive statuses are CUDA's own (cudaError_t). */\n"
        "enum {\n"
        "    %s_NO_ARGUMENT = -1, /* a null pointer */\n"
        "    %s_MISALIGNED = -2,  /* an address or a stride that is no multiple of 16 bytes */\n"
        "    %s_NO_KERNEL = -3,   /* no kernel for this shape */\n"
        "    %s_WORKSPACE = -4,   /* the workspace is smaller than this shape needs */\n"
        "    %s_ARCHITECTURE = -5 /* the machine code is for another GPU: make SOURCE=1 */\n"
        "};\n\n",
        upper.bytes, upper.bytes, upper.bytes, upper.bytes, upper.bytes);
    text_print(
        text,
        "/* The workspace's size for this shape, 0 where it needs none; -1 where there is no "
        "kernel for it. */\n"
        "int64_t %s_workspace_bytes(const struct %s_shape *shape);\n\n",
        name, name);
    text_print(text,
               "/* Puts the kernels on the stream. 0, or a status of above; then nothing, or not "
               "all, was put there.\n"
               "   `workspace` has `workspace_bytes` bytes of the device, aligned to 16, whose "
               "contents do not matter;\n"
               "   NULL where none is needed. */\n"
               "int %s_launch(const struct %s_shape *shape, const struct %s_tensors *tensors,\n"
               "        void *workspace, size_t workspace_bytes, cudaStream_t stream);\n\n",
               name, name, name);
    text_print(text,
               "/* A line on any status. */\nconst char *%s_error_string(int status);\n\n"
               "#ifdef __cplusplus\n}\n#endif\n\n#endif\n",
               name);
    text_release(&upper);
    return 0;
}
