#include "freeze/unit.h"

#include <string.h>

/* State while one variant's functions are written. */
struct writing {
    const struct export *export;
    const struct template *template;
    int number; /* from 1 */
    struct formulas formulas, wide;
    struct text *text;
};

/* Assembles a function from its opening, declarations of the derived quantities that its body
   reads, and the body. Casts unused parameters to void. */
static void add_function(const struct formulas *formulas, struct text *opening,
                         const char *const *parameters, struct text *body, struct text *text) {
    struct text locals = {0};
    text_add(&locals, "", 0);
    formulas_locals(formulas, body->bytes, &locals);
    text_print(text, "%s", opening->bytes);
    for (; *parameters != NULL; parameters++)
        if (!text_mentions(body->bytes, *parameters) && !text_mentions(locals.bytes, *parameters))
            text_print(text, "    (void)%s;\n", *parameters);
    text_print(text, "%s%s}\n\n", locals.bytes, body->bytes);
    text_release(&locals);
    text_release(opening);
    text_release(body);
}

static const char *const none[] = {NULL};
static const char *const only_shape[] = {"shape", NULL};

/* 1 if the condition is always true, 0 if never, -1 if it depends on the shape. */
static int certainty(const struct writing *writing, const struct expression *when) {
    int64_t value;
    if (when == NULL)
        return 1;
    if (!formula_constant(&writing->formulas, when, &value))
        return -1;
    return value != 0;
}

/* "(const int64_t[]){shape->B, 64}, 2" */
static void add_extents(const struct writing *writing, const struct tensor *tensor,
                        struct text *text) {
    text_print(text, "(const int64_t[]){");
    for (int i = 0; i < tensor->rank; i++) {
        text_print(text, "%s", i > 0 ? ", " : "");
        formula_add(&writing->formulas, tensor->shape[i], text);
    }
    text_print(text, "}, %d", tensor->rank);
}

static void add_element_bytes(const struct writing *writing, const struct tensor *tensor,
                              struct text *text) {
    int then = certainty(writing, tensor->dtype_when);
    if (then >= 0) {
        text_print(text, "%d", dtype_bytes(then ? tensor->dtype : tensor->other_dtype));
        return;
    }
    formula_add(&writing->formulas, tensor->dtype_when, text);
    text_print(text, " ? %d : %d", dtype_bytes(tensor->dtype), dtype_bytes(tensor->other_dtype));
}

/* ---- admits ---- */

/* True if the tensor's size depends on the shape. */
static bool varies(const struct writing *writing, const struct tensor *tensor) {
    int64_t extent;
    for (int i = 0; i < tensor->rank; i++)
        if (!formula_constant(&writing->formulas, tensor->shape[i], &extent))
            return true;
    return false;
}

/* "fits((const int64_t[]){shape->B, 64}, 2)", under the condition that the tensor is present. */
static void add_fit(const struct writing *writing, const struct tensor *tensor, struct text *text) {
    bool always = certainty(writing, tensor->when) > 0;
    if (!always) {
        text_print(text, "(!(");
        formula_add(&writing->formulas, tensor->when, text);
        text_print(text, ") || ");
    }
    text_print(text, "fits(");
    add_extents(writing, tensor, text);
    text_print(text, always ? ")" : "))");
}

/* Checks sizes first, in a separate function: constraints cannot overflow for tensors that fit. */
static void add_fits(struct writing *writing) {
    struct text body = {0};
    struct text opening = {0};
    bool first = true;
    text_print(&body, "    return ");
    for (int t = 0; t < writing->template->tensor_count; t++) {
        const struct tensor *tensor = &writing->template->tensors[t];
        struct text one = {0};
        if (certainty(writing, tensor->when) == 0 || !varies(writing, tensor))
            continue;
        add_fit(writing, tensor, &one);
        if (strstr(body.bytes, one.bytes) == NULL) { /* many tensors have the same shape */
            text_print(&body, "%s%s", first ? "" : " &&\n           ", one.bytes);
            first = false;
        }
        text_release(&one);
    }
    text_print(&body, "%s;\n", first ? "1" : "");
    text_print(&opening, "static int fits_%d(const struct %s_shape *shape)\n{\n", writing->number,
               writing->export->name);
    add_function(&writing->formulas, &opening, only_shape, &body, writing->text);
}

/* Checks the constraints that are not constant for this variant's genes and specialised
   dimensions. */
static void add_admits(struct writing *writing) {
    const struct space *space = writing->template->space;
    int case_index = writing->export->request->units[writing->number - 1].case_index;
    struct text body = {0};
    for (int i = 0; i < space->constraint_count; i++) {
        const struct constraint *constraint = &space->constraints[i];
        if (certainty(writing, constraint->expression) == 1)
            continue;
        text_print(&body, "    if (!(");
        formula_add(&writing->formulas, constraint->expression, &body);
        text_print(&body, "))\n        return 0; /* ");
        text_comment(&body, constraint->because, strlen(constraint->because));
        text_print(&body, " */\n");
    }
    text_print(&body, "    return 1;\n");
    struct text opening = {0};
    text_print(&opening, "static int admits_%d(const struct %s_shape *shape)\n{\n    if (",
               writing->number, writing->export->name);
    for (int d = 0; d < writing->template->dimension_count; d++)
        if (writing->template->dimensions[d].specialised)
            text_print(&opening, "shape->%s != %lld || ", writing->template->dimensions[d].name,
                       (long long)writing->template->cases[case_index].values[d]);
    text_print(&opening, "!fits_%d(shape))\n        return 0;\n", writing->number);
    add_function(&writing->formulas, &opening, none, &body, writing->text);
}

/* ---- operations ---- */

static void add_operations(struct writing *writing) {
    const struct expression *operations = writing->template->operations;
    struct text body = {0};
    const struct formulas *formulas = &writing->wide;
    /* C has no % for doubles: an expression with a remainder is printed in integers instead. */
    for (int attempt = 0; attempt < 2; attempt++) {
        text_release(&body);
        text_print(&body, "    return ");
        formula_add(formulas, operations, &body);
        text_print(&body, ";\n");
        struct text locals = {0};
        formulas_locals(formulas, body.bytes, &locals);
        bool remainder =
            strchr(body.bytes, '%') != NULL || (locals.used > 0 && strchr(locals.bytes, '%'));
        text_release(&locals);
        if (!remainder)
            break;
        formulas = &writing->formulas;
    }
    struct text opening = {0};
    text_print(&opening, "static double operations_%d(const struct %s_shape *shape)\n{\n",
               writing->number, writing->export->name);
    add_function(formulas, &opening, only_shape, &body, writing->text);
}

/* ---- parts of the workspace ---- */

static void add_parts(struct writing *writing) {
    struct text body = {0};
    int part = 0;
    for (int t = 0; t < writing->template->tensor_count; t++) {
        const struct tensor *tensor = &writing->template->tensors[t];
        if (tensor->role != ROLE_WORKSPACE)
            continue;
        int there = certainty(writing, tensor->when);
        const char *margin = there < 0 ? "        " : "    ";
        if (there <= 0)
            text_print(&body, "    parts[%d] = (struct part){0, 0}; /* %s */\n", part,
                       tensor->name);
        if (there < 0) {
            text_print(&body, "    if (");
            formula_add(&writing->formulas, tensor->when, &body);
            text_print(&body, ")\n");
        }
        if (there != 0) {
            text_print(&body, "%sparts[%d] = take(&used, ", margin, part);
            add_extents(writing, tensor, &body);
            text_print(&body, ", ");
            add_element_bytes(writing, tensor, &body);
            text_print(&body, "); /* %s */\n", tensor->name);
        }
        part++;
    }
    text_print(&body, "    return used;\n");
    struct text opening = {0};
    text_print(&opening,
               "static int64_t parts_%d(const struct %s_shape *shape, struct part *parts)\n"
               "{\n    int64_t used = 0;\n",
               writing->number, writing->export->name);
    add_function(&writing->formulas, &opening, only_shape, &body, writing->text);
}

/* ---- run ---- */

static void add_check(const struct writing *writing, const struct tensor *tensor,
                      struct text *body) {
    int there = certainty(writing, tensor->when);
    if (tensor->role == ROLE_WORKSPACE || there == 0)
        return;
    text_print(body, "    if (status == 0");
    if (there < 0) {
        text_print(body, " && (");
        formula_add(&writing->formulas, tensor->when, body);
        text_print(body, ")");
    }
    text_print(body, ")\n        status = unusable(tensors->%s);\n", tensor->name);
    if (!tensor->strided)
        return;
    text_print(body, "    if (status == 0)\n        status = uneven(tensors->%s_strides, %d, ",
               tensor->name, tensor->rank - 1);
    add_element_bytes(writing, tensor, body);
    text_print(body, ");\n");
}

/* A workspace tensor's index in `parts`. */
static int part_of(const struct template *template, int tensor) {
    int part = 0;
    for (int t = 0; t < tensor; t++)
        part += template->tensors[t].role == ROLE_WORKSPACE;
    return part;
}

/* The tensor's address, NULL if it is absent. */
static void add_address(const struct writing *writing, int index, struct text *body) {
    const struct tensor *tensor = &writing->template->tensors[index];
    int there = certainty(writing, tensor->when);
    if (there == 0)
        text_print(body, "NULL");
    else if (tensor->role == ROLE_WORKSPACE)
        text_print(body, "address(workspace, parts[%d])", part_of(writing->template, index));
    else if (there > 0)
        text_print(body, "tensors->%s", tensor->name);
    else {
        text_print(body, "(");
        formula_add(&writing->formulas, tensor->when, body);
        text_print(body, ") ? tensors->%s : NULL", tensor->name);
    }
}

static void add_swizzle(const struct writing *writing, const struct map *map, struct text *body) {
    static const char *const words[SWIZZLE_COUNT] = {
        [SWIZZLE_NONE] = "CU_TENSOR_MAP_SWIZZLE_NONE",
        [SWIZZLE_32B] = "CU_TENSOR_MAP_SWIZZLE_32B",
        [SWIZZLE_64B] = "CU_TENSOR_MAP_SWIZZLE_64B",
        [SWIZZLE_128B] = "CU_TENSOR_MAP_SWIZZLE_128B",
    };
    int then = certainty(writing, map->swizzle_when);
    if (then >= 0) {
        text_print(body, "%s", words[then ? map->swizzle : map->other_swizzle]);
        return;
    }
    formula_add(&writing->formulas, map->swizzle_when, body);
    text_print(body, " ? %s : %s", words[map->swizzle], words[map->other_swizzle]);
}

/* "map_tensor(tensors->k, (const int64_t[]){shape->S, 64}, 2, (const int64_t[]){K_ROW},
   (const int64_t[]){128, 64}, 2, CU_TENSOR_MAP_SWIZZLE_128B, &status)" */
static void add_map(const struct writing *writing, const struct map *map, struct text *body) {
    const struct tensor *tensor = &writing->template->tensors[map->tensor];
    int there = certainty(writing, map->when);
    text_print(body, "map_tensor(");
    if (there == 0) {
        text_print(body, "NULL");
    } else if (there > 0) {
        add_address(writing, map->tensor, body);
    } else {
        text_print(body, "!(");
        formula_add(&writing->formulas, map->when, body);
        text_print(body, ") ? NULL : ");
        add_address(writing, map->tensor, body);
    }
    text_print(body, ",\n                                ");
    add_extents(writing, tensor, body);
    text_print(body, ",\n                                ");
    if (tensor->strided)
        text_print(body, "(const int64_t[]){");
    for (int i = 0; tensor->strided && i < tensor->rank - 1; i++)
        text_print(body, "%s%s", i > 0 ? ", " : "",
                   writing->formulas.scope.slots[tensor->strides[i]]);
    text_print(body, "%s,\n                                (const int64_t[]){",
               tensor->strided ? "}" : "NULL");
    for (int i = 0; i < tensor->rank; i++) {
        text_print(body, "%s", i > 0 ? ", " : "");
        formula_add(&writing->formulas, map->box[i], body);
    }
    text_print(body, "}, ");
    add_element_bytes(writing, tensor, body);
    text_print(body, ",\n                                ");
    add_swizzle(writing, map, body);
    text_print(body, ", &status)");
}

static void add_argument(const struct writing *writing, const struct argument *argument,
                         struct text *body) {
    int64_t value;
    if (argument->map >= 0) {
        text_print(body, "{.map = ");
        add_map(writing, &writing->template->maps[argument->map], body);
        text_print(body, "}");
        return;
    }
    if (argument->tensor >= 0) {
        text_print(body, "{.pointer = ");
        add_address(writing, argument->tensor, body);
        text_print(body, "}");
        return;
    }
    if (argument->real) {
        text_print(body, "{.f32 = ");
        formula_add(&writing->formulas, argument->expression, body);
        text_print(body, "}");
        return;
    }
    bool constant = formula_constant(&writing->formulas, argument->expression, &value);
    bool narrow = argument->size == 4 && !(constant && value == (int32_t)value);
    text_print(body, "{.%s = %s", argument->size == 4 ? "i32" : "i64", narrow ? "narrow(" : "");
    formula_add(&writing->formulas, argument->expression, body);
    text_print(body, "%s}", narrow ? ", &status)" : "");
}

static void add_triple(const struct writing *writing, struct expression *const triple[3],
                       struct text *body) {
    text_print(body, "(const int64_t[]){");
    for (int i = 0; i < 3; i++) {
        text_print(body, "%s", i > 0 ? ", " : "");
        formula_add(&writing->formulas, triple[i], body);
    }
    text_print(body, "}");
}

/* ", CONDITION ? 1 : 0"; ", 0" without a condition. */
static void add_condition(const struct writing *writing, const struct expression *condition,
                          struct text *body) {
    text_print(body, ", ");
    if (condition == NULL) {
        text_print(body, "0");
    } else {
        formula_add(&writing->formulas, condition, body);
        text_print(body, " ? 1 : 0");
    }
}

static void add_launch(const struct writing *writing, int index, struct text *body) {
    const struct launch *launch = &writing->template->launches.launches[index];
    char symbol[SYMBOL_SIZE];
    int there = certainty(writing, launch->when);
    if (there == 0)
        return;
    text_print(body, "    if (status == 0");
    if (there < 0) {
        text_print(body, " && (");
        formula_add(&writing->formulas, launch->when, body);
        text_print(body, ")");
    }
    text_print(body, ") {\n        union argument arguments[] = {\n");
    for (int i = 0; i < launch->argument_count; i++) {
        text_print(body, "            ");
        add_argument(writing, &launch->arguments[i], body);
        text_print(body, ",\n");
    }
    /* A kernel without arguments still needs an array that C allows. */
    if (launch->argument_count == 0)
        text_print(body, "            {.pointer = NULL},\n");
    text_print(body,
               "        };\n        if (status == 0)\n"
               "            status = launch(&%s,\n                            ",
               unit_symbol(writing->number - 1, launch->kernel, symbol));
    add_triple(writing, launch->grid, body);
    text_print(body, ",\n                            ");
    add_triple(writing, launch->block, body);
    text_print(body, ", ");
    if (launch->smem != NULL)
        formula_add(&writing->formulas, launch->smem, body);
    else
        text_print(body, "0");
    add_condition(writing, launch->early, body);
    add_condition(writing, launch->cooperative, body);
    text_print(body, ", arguments, %d, stream);\n    }\n", launch->argument_count);
}

static void add_run(struct writing *writing) {
    const struct template *template = writing->template;
    bool parts = writing->export->workspaces;
    struct text body = {0};
    for (int t = 0; t < template->tensor_count; t++)
        add_check(writing, &template->tensors[t], &body);
    for (int t = 0; t < template->tensor_count; t++)
        if (template->tensors[t].clear && certainty(writing, template->tensors[t].when) != 0)
            text_print(&body,
                       "    if (status == 0)\n"
                       "        status = clear(workspace, parts[%d], stream); /* %s */\n",
                       part_of(template, t), template->tensors[t].name);
    for (int i = 0; i < template->launches.count; i++)
        add_launch(writing, i, &body);
    text_print(&body, "    return status;\n");
    struct text opening = {0};
    text_print(&opening,
               "static int run_%d(const struct %s_shape *shape, const struct %s_tensors *tensors,\n"
               "                 %scudaStream_t stream)\n{\n    int status = 0;\n",
               writing->number, writing->export->name, writing->export->name,
               parts ? "void *workspace, const struct part *parts, " : "");
    static const char *const with_parts[] = {"shape", "tensors", "workspace",
                                             "parts", "stream",  NULL};
    static const char *const without_parts[] = {"shape", "tensors", "stream", NULL};
    struct formulas formulas = writing->formulas;
    formulas.launches = true;
    add_function(&formulas, &opening, parts ? with_parts : without_parts, &body, writing->text);
}

/* ---- the whole ---- */

/* True if the launch can happen and no earlier launch uses the same kernel. */
static bool first_use(const struct writing *writing, int index) {
    const struct launch *launches = writing->template->launches.launches;
    if (certainty(writing, launches[index].when) == 0)
        return false;
    for (int i = 0; i < index; i++)
        if (strcmp(launches[i].kernel, launches[index].kernel) == 0 &&
            certainty(writing, launches[i].when) != 0)
            return false;
    return true;
}

static void add_heading(const struct writing *writing) {
    const struct launch_list *launches = &writing->template->launches;
    const struct frozen_unit *unit = &writing->export->request->units[writing->number - 1];
    struct text specialised = {0};
    char stem[STEM_SIZE];
    char symbol[SYMBOL_SIZE];
    char genome[GENOME_TEXT_SIZE];
    unit_specialised(writing->export, writing->number - 1, &specialised);
    genome_print(unit->genome, writing->template->space, genome);
    text_print(writing->text, "/* ---- %s.cu%s%s ----\n *\n", unit_stem(writing->number - 1, stem),
               specialised.used > 0 ? ": " : "", specialised.bytes);
    text_wrap(writing->text, " * ", genome);
    text_print(writing->text, " */\n\nextern const unsigned long long %s_%s_cubin[];\n",
               writing->export->name, stem);
    for (int i = 0; i < launches->count; i++)
        if (first_use(writing, i))
            text_print(writing->text, "static struct kernel %s = {%s_%s_cubin, \"%s\", NULL};\n",
                       unit_symbol(writing->number - 1, launches->launches[i].kernel, symbol),
                       writing->export->name, stem, launches->launches[i].kernel);
    text_print(writing->text, "\n");
    text_release(&specialised);
}

int add_unit(const struct export *export, int unit, struct text *text, struct error *error) {
    struct writing writing = {
        .export = export, .template = export->template, .number = unit + 1, .text = text};
    const struct frozen_unit *frozen = &export->request->units[unit];
    if (formulas_init(&writing.formulas, export->template, frozen, false, error) < 0 ||
        formulas_init(&writing.wide, export->template, frozen, true, error) < 0)
        return -1;
    add_heading(&writing);
    add_fits(&writing);
    add_admits(&writing);
    if (export->request->unit_count > 1)
        add_operations(&writing);
    if (export->workspaces)
        add_parts(&writing);
    add_run(&writing);
    return 0;
}
