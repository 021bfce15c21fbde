#include "export/variant.h"

#include "export/code.h"
#include "export/dispatch.h"

#include <string.h>

static const char *const no_parameters[] = {NULL};
static const char *const only_shape[] = {"shape", NULL};

/* Whether the variant is the default genome as the reference, which has a launcher of its own. */
static bool is_reference(const struct code_writer *writer) {
    return writer->number > writer->export->request->variant_count;
}

/* Whether the functions of its launcher take parts of a workspace. */
static bool has_parts(const struct code_writer *writer) {
    return is_reference(writer) ? writer->export->reference_workspaces : writer->export->workspaces;
}

/* ---- admits ---- */

/* True if the tensor's size depends on the shape. */
static bool depends_on_shape(const struct code_writer *writer, const struct tensor *tensor) {
    int64_t extent;
    for (int i = 0; i < tensor->rank; i++)
        if (!expr_to_c_constant(writer->printer, tensor->shape[i], &extent))
            return true;
    return false;
}

/* "fits((const int64_t[]){shape->B, 64}, 2)", under the condition that the tensor is present. */
static void add_fit(const struct code_writer *writer, const struct tensor *tensor,
                    struct strbuf *text) {
    bool always = code_truth(writer, tensor->when) > 0;
    if (!always) {
        strbuf_print(text, "(!(");
        expr_to_c_add(writer->printer, tensor->when, text);
        strbuf_print(text, ") || ");
    }
    strbuf_print(text, "fits(");
    code_add_list(writer, tensor->shape, tensor->rank, text);
    strbuf_print(text, ", %d%s", tensor->rank, always ? ")" : "))");
}

/* Checks sizes first, in a separate function: constraints cannot overflow for tensors that fit. */
static void add_fits(struct code_writer *writer) {
    struct strbuf body = {0};
    struct strbuf opening = {0};
    bool first = true;
    strbuf_print(&body, "    return ");
    for (int t = 0; t < writer->template->tensor_count; t++) {
        const struct tensor *tensor = &writer->template->tensors[t];
        struct strbuf one = {0};
        if (tensor->role == ROLE_MAGNITUDE || tensor->role == ROLE_SETUP ||
            code_truth(writer, tensor->when) == 0 || !depends_on_shape(writer, tensor))
            continue;
        add_fit(writer, tensor, &one);
        if (strstr(body.bytes, one.bytes) == NULL) { /* many tensors have the same shape */
            strbuf_print(&body, "%s%s", first ? "" : " &&\n           ", one.bytes);
            first = false;
        }
        strbuf_release(&one);
    }
    strbuf_print(&body, "%s;\n", first ? "1" : "");
    strbuf_print(&opening, "static int fits_%d(const struct %s_shape *shape)\n{\n", writer->number,
                 writer->export->name);
    code_add_function(writer->printer, &opening, only_shape, &body, writer->text);
}

/* Checks the constraints that are not constant for this variant's genes and specialised
   dimensions. */
static void add_admits(struct code_writer *writer) {
    const struct space *space = writer->template->space;
    int case_index = writer->export->request->variants[writer->number - 1].case_index;
    struct strbuf body = {0};
    for (int i = 0; i < space->constraint_count; i++) {
        const struct constraint *constraint = &space->constraints[i];
        if (code_truth(writer, constraint->expression) == 1)
            continue;
        strbuf_print(&body, "    if (!(");
        expr_to_c_add(writer->printer, constraint->expression, &body);
        strbuf_print(&body, "))\n        return 0; /* ");
        strbuf_add_comment(&body, constraint->because, strlen(constraint->because));
        strbuf_print(&body, " */\n");
    }
    strbuf_print(&body, "    return 1;\n");
    struct strbuf opening = {0};
    strbuf_print(&opening, "static int admits_%d(const struct %s_shape *shape)\n{\n    if (",
                 writer->number, writer->export->name);
    for (int d = 0; d < writer->template->dimension_count; d++)
        if (writer->template->dimensions[d].specialised)
            strbuf_print(&opening, "shape->%s != %lld || ", writer->template->dimensions[d].name,
                         (long long)writer->template->cases[case_index].values[d]);
    strbuf_print(&opening, "!fits_%d(shape))\n        return 0;\n", writer->number);
    code_add_function(writer->printer, &opening, no_parameters, &body, writer->text);
}

/* ---- operations ---- */

static void add_operations(struct code_writer *writer) {
    struct strbuf opening = {0};
    strbuf_print(&opening, "static double operations_%d(const struct %s_shape *shape)\n{\n",
                 writer->number, writer->export->name);
    code_add_operations(writer, &opening);
}

/* ---- parts of the workspace ---- */

static void add_workspace_parts(struct code_writer *writer) {
    struct strbuf body = {0};
    int part = 0;
    for (int t = 0; t < writer->template->tensor_count; t++) {
        const struct tensor *tensor = &writer->template->tensors[t];
        if (tensor->role != ROLE_WORKSPACE)
            continue;
        int presence = code_truth(writer, tensor->when);
        const char *indent = presence < 0 ? "        " : "    ";
        if (presence <= 0)
            strbuf_print(&body, "    parts[%d] = (struct part){0, 0}; /* %s */\n", part,
                         tensor->name);
        if (presence < 0) {
            strbuf_print(&body, "    if (");
            expr_to_c_add(writer->printer, tensor->when, &body);
            strbuf_print(&body, ")\n");
        }
        if (presence != 0) {
            strbuf_print(&body, "%sparts[%d] = take(&used, ", indent, part);
            code_add_list(writer, tensor->shape, tensor->rank, &body);
            strbuf_print(&body, ", %d, ", tensor->rank);
            code_add_element_bytes(writer, tensor, &body);
            strbuf_print(&body, "); /* %s */\n", tensor->name);
        }
        part++;
    }
    strbuf_print(&body, "    return used;\n");
    struct strbuf opening = {0};
    strbuf_print(&opening,
                 "static int64_t parts_%d(const struct %s_shape *shape, struct part *parts)\n"
                 "{\n    int64_t used = 0;\n",
                 writer->number, writer->export->name);
    static const char *const parameters[] = {"shape", "parts", NULL};
    code_add_function(writer->printer, &opening, parameters, &body, writer->text);
}

/* ---- run ---- */

static void add_check(const struct code_writer *writer, const struct tensor *tensor,
                      struct strbuf *body) {
    if (!is_parameter(tensor) || code_truth(writer, tensor->when) == 0)
        return;
    code_add_guard(writer, tensor->when, body);
    strbuf_print(body, "\n        status = unusable(tensors->%s, %d);\n", tensor->name,
                 tensor->alignment);
    if (!tensor->strided)
        return;
    strbuf_print(body, "    if (status == 0)\n        status = uneven(tensors->%s_strides, %d, ",
                 tensor->name, tensor->rank - 1);
    code_add_element_bytes(writer, tensor, body);
    strbuf_print(body, ", %d);\n", tensor->alignment);
}

static void add_run(struct code_writer *writer) {
    const struct template *template = writer->template;
    bool parts = has_parts(writer);
    struct strbuf body = {0};
    for (int t = 0; t < template->tensor_count; t++)
        add_check(writer, &template->tensors[t], &body);
    for (int t = 0; t < template->tensor_count; t++)
        if (template->tensors[t].clear && code_truth(writer, template->tensors[t].when) != 0)
            strbuf_print(&body,
                         "    if (status == 0)\n"
                         "        status = clear(workspace, parts[%d], stream); /* %s */\n",
                         code_part_index(template, t), template->tensors[t].name);
    code_add_variables(writer, &body);
    code_add_launches(writer, &body);
    strbuf_print(&body, "    return status;\n");
    struct strbuf opening = {0};
    strbuf_print(
        &opening,
        "static int run_%d(const struct %s_shape *shape, const struct %s_tensors *tensors,\n"
        "                 %scudaStream_t stream)\n{\n    int status = 0;\n",
        writer->number, writer->export->name, writer->export->name,
        parts ? "void *workspace, const struct part *parts, " : "");
    static const char *const with_parts[] = {"shape", "tensors", "workspace",
                                             "parts", "stream",  NULL};
    static const char *const without_parts[] = {"shape", "tensors", "stream", NULL};
    writer->printer->launches = true; /* for the locals */
    code_add_function(writer->printer, &opening, parts ? with_parts : without_parts, &body,
                      writer->text);
    writer->printer->launches = false;
}

/* ---- the whole ---- */

static void add_heading(const struct code_writer *writer) {
    const struct export_variant *variant = &writer->export->request->variants[writer->number - 1];
    struct strbuf specialised = {0};
    char cubin[NAME_SIZE + 24];
    char genome[GENOME_TEXT_SIZE];
    const bool several = writer->export->solution_count > 1;
    variant_specialised(writer->export, writer->number - 1, &specialised);
    genome_print(variant->genome, writer->template->space, genome);
    strbuf_print(writer->text, "/* ---- variant %d%s%s%s%s ----\n *\n", writer->number,
                 several ? ", " : "", several ? writer->template->solution : "",
                 specialised.used > 0 ? ": " : "", specialised.bytes);
    strbuf_add_wrapped(writer->text, " * ", genome);
    strbuf_print(writer->text, " */\n\n");
    add_upper_name(writer->export, writer->text);
    strbuf_print(writer->text, "_CUBIN(%s_cubin_%d, \"variant_%d.cubin\");\n", writer->export->name,
                 writer->number, writer->number);
    snprintf(cubin, sizeof cubin, "%s_cubin_%d", writer->export->name, writer->number);
    code_add_kernels(writer, cubin);
    strbuf_print(writer->text, "\n");
    strbuf_release(&specialised);
}

static void add_functions(struct code_writer *writer) {
    const struct export_request *request = writer->export->request;
    add_heading(writer);
    add_fits(writer);
    add_admits(writer);
    if (is_reference(writer) ? request->reference_count > 1
                             : request->variant_count > 1 && !dispatch_is_exported(writer->export))
        add_operations(writer); /* by which the nearest case is found */
    if (has_parts(writer))
        add_workspace_parts(writer);
    add_run(writer);
}

int add_variant(const struct export *export, int variant, struct strbuf *text,
                struct error *error) {
    struct code_writer writer;
    if (code_writer_init(&writer, export, variant + 1, text, error) < 0)
        return -1;
    add_functions(&writer);
    code_writer_release(&writer);
    return 0;
}
