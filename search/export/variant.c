#include "export/variant.h"

#include <string.h>

/* State while one variant's functions are written. */
struct variant_writer {
    const struct export *export;
    const struct template *template;
    int number; /* from 1 */
    struct expr_printer *printer, *double_printer;
    struct strbuf *text;
};

/* Assembles a function from its opening, declarations of the derived quantities that its body
   reads, and the body. Casts unused parameters to void. */
static void add_function(const struct expr_printer *printer, struct strbuf *opening,
                         const char *const *parameters, struct strbuf *body, struct strbuf *text) {
    struct strbuf locals = {0};
    strbuf_add(&locals, "", 0);
    expr_to_c_add_locals(printer, body->bytes, &locals);
    strbuf_print(text, "%s", opening->bytes);
    for (; *parameters != NULL; parameters++)
        if (!mentions_identifier(body->bytes, *parameters) &&
            !mentions_identifier(locals.bytes, *parameters))
            strbuf_print(text, "    (void)%s;\n", *parameters);
    strbuf_print(text, "%s%s}\n\n", locals.bytes, body->bytes);
    strbuf_release(&locals);
    strbuf_release(opening);
    strbuf_release(body);
}

static const char *const no_parameters[] = {NULL};
static const char *const only_shape[] = {"shape", NULL};

/* 1 if the condition is always true, 0 if never, -1 if it depends on the shape. */
static int constant_truth(const struct variant_writer *writer, const struct expression *when) {
    int64_t value;
    if (when == NULL)
        return 1;
    if (!expr_to_c_constant(writer->printer, when, &value))
        return -1;
    return value != 0;
}

/* "(const int64_t[]){shape->B, 64}" */
static void add_list(const struct variant_writer *writer, struct expression *const *items,
                     int count, struct strbuf *text) {
    strbuf_print(text, "(const int64_t[]){");
    for (int i = 0; i < count; i++) {
        strbuf_print(text, "%s", i > 0 ? ", " : "");
        expr_to_c_add(writer->printer, items[i], text);
    }
    strbuf_print(text, "}");
}

/* "CONDITION ? YES : NO", or the one that is always chosen. */
static void add_choice(const struct variant_writer *writer, const struct expression *when,
                       const char *yes, const char *no, struct strbuf *text) {
    int constant = constant_truth(writer, when);
    if (constant >= 0) {
        strbuf_print(text, "%s", constant ? yes : no);
        return;
    }
    expr_to_c_add(writer->printer, when, text);
    strbuf_print(text, " ? %s : %s", yes, no);
}

static void add_element_bytes(const struct variant_writer *writer, const struct tensor *tensor,
                              struct strbuf *text) {
    char yes[16], no[16];
    snprintf(yes, sizeof yes, "%d", dtype_bytes(tensor->dtype));
    snprintf(no, sizeof no, "%d", dtype_bytes(tensor->other_dtype));
    add_choice(writer, tensor->dtype_when, yes, no, text);
}

/* Begins a statement that is skipped after a failure, and unless a condition holds that depends on
   the shape. */
static void add_guard(const struct variant_writer *writer, const struct expression *when,
                      struct strbuf *text) {
    strbuf_print(text, "    if (status == 0");
    if (constant_truth(writer, when) < 0) {
        strbuf_print(text, " && (");
        expr_to_c_add(writer->printer, when, text);
        strbuf_print(text, ")");
    }
    strbuf_print(text, ")");
}

/* ---- admits ---- */

/* True if the tensor's size depends on the shape. */
static bool depends_on_shape(const struct variant_writer *writer, const struct tensor *tensor) {
    int64_t extent;
    for (int i = 0; i < tensor->rank; i++)
        if (!expr_to_c_constant(writer->printer, tensor->shape[i], &extent))
            return true;
    return false;
}

/* "fits((const int64_t[]){shape->B, 64}, 2)", under the condition that the tensor is present. */
static void add_fit(const struct variant_writer *writer, const struct tensor *tensor,
                    struct strbuf *text) {
    bool always = constant_truth(writer, tensor->when) > 0;
    if (!always) {
        strbuf_print(text, "(!(");
        expr_to_c_add(writer->printer, tensor->when, text);
        strbuf_print(text, ") || ");
    }
    strbuf_print(text, "fits(");
    add_list(writer, tensor->shape, tensor->rank, text);
    strbuf_print(text, ", %d%s", tensor->rank, always ? ")" : "))");
}

/* Checks sizes first, in a separate function: constraints cannot overflow for tensors that fit. */
static void add_fits(struct variant_writer *writer) {
    struct strbuf body = {0};
    struct strbuf opening = {0};
    bool first = true;
    strbuf_print(&body, "    return ");
    for (int t = 0; t < writer->template->tensor_count; t++) {
        const struct tensor *tensor = &writer->template->tensors[t];
        struct strbuf one = {0};
        if (constant_truth(writer, tensor->when) == 0 || !depends_on_shape(writer, tensor))
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
    add_function(writer->printer, &opening, only_shape, &body, writer->text);
}

/* Checks the constraints that are not constant for this variant's genes and specialised
   dimensions. */
static void add_admits(struct variant_writer *writer) {
    const struct space *space = writer->template->space;
    int case_index = writer->export->request->variants[writer->number - 1].case_index;
    struct strbuf body = {0};
    for (int i = 0; i < space->constraint_count; i++) {
        const struct constraint *constraint = &space->constraints[i];
        if (constant_truth(writer, constraint->expression) == 1)
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
    add_function(writer->printer, &opening, no_parameters, &body, writer->text);
}

/* ---- operations ---- */

static void add_operations(struct variant_writer *writer) {
    const struct expression *operations = writer->template->operations;
    struct strbuf body = {0};
    const struct expr_printer *printer = writer->double_printer;
    /* C has no % for doubles: an expression with a remainder is printed in integers instead. */
    for (int attempt = 0; attempt < 2; attempt++) {
        strbuf_release(&body);
        strbuf_print(&body, "    return ");
        expr_to_c_add(printer, operations, &body);
        strbuf_print(&body, ";\n");
        struct strbuf locals = {0};
        expr_to_c_add_locals(printer, body.bytes, &locals);
        bool remainder =
            strchr(body.bytes, '%') != NULL || (locals.used > 0 && strchr(locals.bytes, '%'));
        strbuf_release(&locals);
        if (!remainder)
            break;
        printer = writer->printer;
    }
    struct strbuf opening = {0};
    strbuf_print(&opening, "static double operations_%d(const struct %s_shape *shape)\n{\n",
                 writer->number, writer->export->name);
    add_function(printer, &opening, only_shape, &body, writer->text);
}

/* ---- parts of the workspace ---- */

static void add_parts(struct variant_writer *writer) {
    struct strbuf body = {0};
    int part = 0;
    for (int t = 0; t < writer->template->tensor_count; t++) {
        const struct tensor *tensor = &writer->template->tensors[t];
        if (tensor->role != ROLE_WORKSPACE)
            continue;
        int presence = constant_truth(writer, tensor->when);
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
            add_list(writer, tensor->shape, tensor->rank, &body);
            strbuf_print(&body, ", %d, ", tensor->rank);
            add_element_bytes(writer, tensor, &body);
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
    add_function(writer->printer, &opening, only_shape, &body, writer->text);
}

/* ---- run ---- */

static void add_check(const struct variant_writer *writer, const struct tensor *tensor,
                      struct strbuf *body) {
    if (tensor->role == ROLE_WORKSPACE || constant_truth(writer, tensor->when) == 0)
        return;
    add_guard(writer, tensor->when, body);
    strbuf_print(body, "\n        status = unusable(tensors->%s);\n", tensor->name);
    if (!tensor->strided)
        return;
    strbuf_print(body, "    if (status == 0)\n        status = uneven(tensors->%s_strides, %d, ",
                 tensor->name, tensor->rank - 1);
    add_element_bytes(writer, tensor, body);
    strbuf_print(body, ");\n");
}

/* A workspace tensor's index in `parts`. */
static int part_index(const struct template *template, int tensor) {
    int part = 0;
    for (int t = 0; t < tensor; t++)
        part += template->tensors[t].role == ROLE_WORKSPACE;
    return part;
}

/* The tensor's address, NULL if it is absent. */
static void add_address(const struct variant_writer *writer, int index, struct strbuf *body) {
    const struct tensor *tensor = &writer->template->tensors[index];
    int presence = constant_truth(writer, tensor->when);
    if (presence == 0)
        strbuf_print(body, "NULL");
    else if (tensor->role == ROLE_WORKSPACE)
        strbuf_print(body, "address(workspace, parts[%d])", part_index(writer->template, index));
    else if (presence > 0)
        strbuf_print(body, "tensors->%s", tensor->name);
    else {
        strbuf_print(body, "(");
        expr_to_c_add(writer->printer, tensor->when, body);
        strbuf_print(body, ") ? tensors->%s : NULL", tensor->name);
    }
}

static void add_swizzle(const struct variant_writer *writer, const struct tensor_map_spec *map,
                        struct strbuf *body) {
    static const char *const words[SWIZZLE_COUNT] = {
        [SWIZZLE_NONE] = "CU_TENSOR_MAP_SWIZZLE_NONE",
        [SWIZZLE_32B] = "CU_TENSOR_MAP_SWIZZLE_32B",
        [SWIZZLE_64B] = "CU_TENSOR_MAP_SWIZZLE_64B",
        [SWIZZLE_128B] = "CU_TENSOR_MAP_SWIZZLE_128B",
    };
    add_choice(writer, map->swizzle_when, words[map->swizzle], words[map->other_swizzle], body);
}

/* "map_tensor(tensors->k, (const int64_t[]){shape->S, 64}, 2, (const int64_t[]){K_ROW},
   (const int64_t[]){128, 64}, 2, CU_TENSOR_MAP_SWIZZLE_128B, &status)" */
static void add_map(const struct variant_writer *writer, const struct tensor_map_spec *map,
                    struct strbuf *body) {
    const struct tensor *tensor = &writer->template->tensors[map->tensor];
    int presence = constant_truth(writer, map->when);
    strbuf_print(body, "map_tensor(");
    if (presence < 0) {
        strbuf_print(body, "!(");
        expr_to_c_add(writer->printer, map->when, body);
        strbuf_print(body, ") ? NULL : ");
    }
    if (presence == 0)
        strbuf_print(body, "NULL");
    else
        add_address(writer, map->tensor, body);
    strbuf_print(body, ",\n                                ");
    add_list(writer, tensor->shape, tensor->rank, body);
    strbuf_print(body, ", %d,\n                                ", tensor->rank);
    if (tensor->strided)
        strbuf_print(body, "(const int64_t[]){");
    for (int i = 0; tensor->strided && i < tensor->rank - 1; i++)
        strbuf_print(body, "%s%s", i > 0 ? ", " : "",
                     writer->printer->symbols.slots[tensor->strides[i]]);
    strbuf_print(body, "%s,\n                                ", tensor->strided ? "}" : "NULL");
    add_list(writer, map->box, tensor->rank, body);
    strbuf_print(body, ", ");
    add_element_bytes(writer, tensor, body);
    strbuf_print(body, ",\n                                ");
    add_swizzle(writer, map, body);
    strbuf_print(body, ", &status)");
}

static void add_argument(const struct variant_writer *writer, const struct argument *argument,
                         struct strbuf *body) {
    int64_t value;
    if (argument->map >= 0) {
        strbuf_print(body, "{.map = ");
        add_map(writer, &writer->template->maps[argument->map], body);
    } else if (argument->tensor >= 0) {
        strbuf_print(body, "{.pointer = ");
        add_address(writer, argument->tensor, body);
    } else {
        bool narrow = !argument->real && argument->size == 4 &&
                      !(expr_to_c_constant(writer->printer, argument->expression, &value) &&
                        value == (int32_t)value);
        strbuf_print(body, "{.%s = %s",
                     argument->real        ? "f32"
                     : argument->size == 4 ? "i32"
                                           : "i64",
                     narrow ? "narrow(" : "");
        expr_to_c_add(writer->printer, argument->expression, body);
        strbuf_print(body, "%s", narrow ? ", &status)" : "");
    }
    strbuf_print(body, "}");
}

/* ", CONDITION ? 1 : 0"; ", 0" without a condition. */
static void add_condition(const struct variant_writer *writer, const struct expression *condition,
                          struct strbuf *body) {
    strbuf_print(body, ", ");
    if (condition == NULL) {
        strbuf_print(body, "0");
    } else {
        expr_to_c_add(writer->printer, condition, body);
        strbuf_print(body, " ? 1 : 0");
    }
}

static void add_launch(const struct variant_writer *writer, int index, struct strbuf *body) {
    const struct launch *launch = &writer->template->launches.launches[index];
    char symbol[SYMBOL_SIZE];
    if (constant_truth(writer, launch->when) == 0)
        return;
    add_guard(writer, launch->when, body);
    strbuf_print(body, " {\n        union argument arguments[] = {\n");
    for (int i = 0; i < launch->argument_count; i++) {
        strbuf_print(body, "            ");
        add_argument(writer, &launch->arguments[i], body);
        strbuf_print(body, ",\n");
    }
    /* A kernel without arguments still needs an array that C allows. */
    if (launch->argument_count == 0)
        strbuf_print(body, "            {.pointer = NULL},\n");
    strbuf_print(body,
                 "        };\n        if (status == 0)\n"
                 "            status = launch(&%s,\n                            ",
                 variant_symbol(writer->number - 1, launch->kernel, symbol));
    add_list(writer, launch->grid, 3, body);
    strbuf_print(body, ",\n                            ");
    add_list(writer, launch->block, 3, body);
    strbuf_print(body, ", ");
    if (launch->smem != NULL)
        expr_to_c_add(writer->printer, launch->smem, body);
    else
        strbuf_print(body, "0");
    add_condition(writer, launch->early, body);
    add_condition(writer, launch->cooperative, body);
    strbuf_print(body, ", arguments, %d, stream);\n    }\n", launch->argument_count);
}

static void add_run(struct variant_writer *writer) {
    const struct template *template = writer->template;
    bool parts = writer->export->workspaces;
    struct strbuf body = {0};
    for (int t = 0; t < template->tensor_count; t++)
        add_check(writer, &template->tensors[t], &body);
    for (int t = 0; t < template->tensor_count; t++)
        if (template->tensors[t].clear && constant_truth(writer, template->tensors[t].when) != 0)
            strbuf_print(&body,
                         "    if (status == 0)\n"
                         "        status = clear(workspace, parts[%d], stream); /* %s */\n",
                         part_index(template, t), template->tensors[t].name);
    for (int i = 0; i < template->launches.count; i++)
        add_launch(writer, i, &body);
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
    add_function(writer->printer, &opening, parts ? with_parts : without_parts, &body,
                 writer->text);
    writer->printer->launches = false;
}

/* ---- the whole ---- */

/* True if the launch can happen and no earlier launch uses the same kernel. */
static bool is_first_use(const struct variant_writer *writer, int index) {
    const struct launch *launches = writer->template->launches.launches;
    if (constant_truth(writer, launches[index].when) == 0)
        return false;
    for (int i = 0; i < index; i++)
        if (strcmp(launches[i].kernel, launches[index].kernel) == 0 &&
            constant_truth(writer, launches[i].when) != 0)
            return false;
    return true;
}

static void add_heading(const struct variant_writer *writer) {
    const struct launch_list *launches = &writer->template->launches;
    const struct export_variant *variant = &writer->export->request->variants[writer->number - 1];
    struct strbuf specialised = {0};
    char symbol[SYMBOL_SIZE];
    char genome[GENOME_TEXT_SIZE];
    variant_specialised(writer->export, writer->number - 1, &specialised);
    genome_print(variant->genome, writer->template->space, genome);
    strbuf_print(writer->text, "/* ---- variant %d%s%s ----\n *\n", writer->number,
                 specialised.used > 0 ? ": " : "", specialised.bytes);
    strbuf_add_wrapped(writer->text, " * ", genome);
    strbuf_print(writer->text, " */\n\n");
    add_upper_name(writer->export, writer->text);
    strbuf_print(writer->text, "_CUBIN(%s_cubin_%d, \"variant_%d.cubin\");\n", writer->export->name,
                 writer->number, writer->number);
    for (int i = 0; i < launches->count; i++)
        if (is_first_use(writer, i))
            strbuf_print(writer->text, "static struct kernel %s = {%s_cubin_%d, \"%s\", NULL};\n",
                         variant_symbol(writer->number - 1, launches->launches[i].kernel, symbol),
                         writer->export->name, writer->number, launches->launches[i].kernel);
    strbuf_print(writer->text, "\n");
    strbuf_release(&specialised);
}

static void add_functions(struct variant_writer *writer) {
    add_heading(writer);
    add_fits(writer);
    add_admits(writer);
    if (writer->export->request->variant_count > 1)
        add_operations(writer);
    if (writer->export->workspaces)
        add_parts(writer);
    add_run(writer);
}

int add_variant(const struct export *export, int variant, struct strbuf *text,
                struct error *error) {
    struct variant_writer writer = {
        .export = export, .template = export->template, .number = variant + 1, .text = text};
    const struct export_variant *exported = &export->request->variants[variant];
    writer.printer = expr_to_c_new(export->template, exported, false, error);
    writer.double_printer = expr_to_c_new(export->template, exported, true, error);
    int result = writer.printer != NULL && writer.double_printer != NULL ? 0 : -1;
    if (result == 0)
        add_functions(&writer);
    free(writer.printer);
    free(writer.double_printer);
    return result;
}
