#include "export/code.h"

#include "base/memory.h"
#include "device/kernel_names.h"

#include <ctype.h>
#include <string.h>

int code_writer_init(struct code_writer *writer, const struct export *export, int number,
                     struct strbuf *text, struct error *error) {
    const struct export_variant *variant =
        number > 0 ? &export->request->variants[number - 1] : NULL;
    const struct template *template = variant != NULL ? variant->template : export->template;
    *writer =
        (struct code_writer){.export = export,
                             .template = template,
                             .launches = number > 0 ? &template->launches : &template->reference,
                             .number = number,
                             .text = text};
    writer->kernels =
        kernel_names_copy(variant != NULL ? variant->kernels : export->request->reference_kernels);
    writer->printer = expr_to_c_new(template, variant, false, error);
    writer->double_printer = expr_to_c_new(template, variant, true, error);
    if (writer->printer != NULL && writer->double_printer != NULL)
        return 0;
    code_writer_release(writer);
    return -1;
}

void code_writer_release(struct code_writer *writer) {
    free(writer->printer);
    free(writer->double_printer);
    free(writer->kernels);
}

/* ---- functions ---- */

void code_add_function(const struct expr_printer *printer, struct strbuf *opening,
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

void code_add_operations(const struct code_writer *writer, struct strbuf *opening) {
    static const char *const only_shape[] = {"shape", NULL};
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
    code_add_function(printer, opening, only_shape, &body, writer->text);
}

/* ---- expressions ---- */

int code_truth(const struct code_writer *writer, const struct expression *when) {
    int64_t value;
    if (when == NULL)
        return 1;
    if (!expr_to_c_constant(writer->printer, when, &value))
        return -1;
    return value != 0;
}

void code_add_list(const struct code_writer *writer, struct expression *const *items, int count,
                   struct strbuf *text) {
    strbuf_print(text, "(const int64_t[]){");
    for (int i = 0; i < count; i++) {
        strbuf_print(text, "%s", i > 0 ? ", " : "");
        expr_to_c_add(writer->printer, items[i], text);
    }
    strbuf_print(text, "}");
}

void code_add_choice(const struct code_writer *writer, const struct expression *when,
                     const char *yes, const char *no, struct strbuf *text) {
    int constant = code_truth(writer, when);
    if (constant >= 0) {
        strbuf_print(text, "%s", constant ? yes : no);
        return;
    }
    expr_to_c_add(writer->printer, when, text);
    strbuf_print(text, " ? %s : %s", yes, no);
}

void code_add_element_bytes(const struct code_writer *writer, const struct tensor *tensor,
                            struct strbuf *text) {
    char yes[16], no[16];
    snprintf(yes, sizeof yes, "%d", dtype_bytes(tensor->dtype));
    snprintf(no, sizeof no, "%d", dtype_bytes(tensor->other_dtype));
    code_add_choice(writer, tensor->dtype_when, yes, no, text);
}

void code_add_guard(const struct code_writer *writer, const struct expression *when,
                    struct strbuf *text) {
    strbuf_print(text, "    if (status == 0");
    if (code_truth(writer, when) < 0) {
        strbuf_print(text, " && (");
        expr_to_c_add(writer->printer, when, text);
        strbuf_print(text, ")");
    }
    strbuf_print(text, ")");
}

/* ---- launches ---- */

int code_part_index(const struct template *template, int tensor) {
    int part = 0;
    for (int t = 0; t < tensor; t++)
        part += template->tensors[t].role == ROLE_WORKSPACE;
    return part;
}

/* The tensor's address, NULL if it is absent. */
static void add_own_address(const struct code_writer *writer, int index, struct strbuf *body) {
    const struct tensor *tensor = &writer->template->tensors[index];
    int presence = code_truth(writer, tensor->when);
    char name[NAME_SIZE + 16];
    if (tensor->of_output)
        snprintf(name, sizeof name, "before[%d]", contents_index(writer->template, index));
    else if (tensor->role == ROLE_MAGNITUDE || tensor->role == ROLE_SETUP)
        snprintf(name, sizeof name, "%s[%d]", tensor->role == ROLE_SETUP ? "own" : "magnitudes",
                 index_in_role(writer->template, index));
    else
        snprintf(name, sizeof name, "tensors->%s", tensor->name);
    if (presence == 0)
        strbuf_print(body, "NULL");
    else if (tensor->role == ROLE_WORKSPACE && writer->number == 0)
        strbuf_print(body, "NULL");
    else if (tensor->role == ROLE_WORKSPACE)
        strbuf_print(body, "address(workspace, parts[%d])",
                     code_part_index(writer->template, index));
    else if (presence > 0)
        strbuf_print(body, "%s", name);
    else {
        strbuf_print(body, "(");
        expr_to_c_add(writer->printer, tensor->when, body);
        strbuf_print(body, ") ? %s : NULL", name);
    }
}

/* The tensor with which it changes places, or -1. */
static int swap_partner(const struct repeat *repeat, int tensor) {
    for (int i = 0; repeat != NULL && i < repeat->swap_count; i++)
        if (repeat->swaps[i].read == tensor || repeat->swaps[i].written == tensor)
            return repeat->swaps[i].read == tensor ? repeat->swaps[i].written
                                                   : repeat->swaps[i].read;
    return -1;
}

/* In the last round each name denotes its own tensor, in the round before they are swapped. */
static void add_address(const struct code_writer *writer, const struct repeat *repeat, int index,
                        struct strbuf *body) {
    int partner = swap_partner(repeat, index);
    if (partner < 0) {
        add_own_address(writer, index, body);
        return;
    }
    strbuf_print(body, "(rounds - ROUND) %% 2 == 1 ? ");
    add_own_address(writer, index, body);
    strbuf_print(body, " : ");
    add_own_address(writer, partner, body);
}

static void add_swizzle(const struct code_writer *writer, const struct tensor_map_spec *map,
                        struct strbuf *body) {
    static const char *const words[SWIZZLE_COUNT] = {
        [SWIZZLE_NONE] = "CU_TENSOR_MAP_SWIZZLE_NONE",
        [SWIZZLE_32B] = "CU_TENSOR_MAP_SWIZZLE_32B",
        [SWIZZLE_64B] = "CU_TENSOR_MAP_SWIZZLE_64B",
        [SWIZZLE_128B] = "CU_TENSOR_MAP_SWIZZLE_128B",
    };
    code_add_choice(writer, map->swizzle_when, words[map->swizzle], words[map->other_swizzle],
                    body);
}

/* "map_tensor(tensors->k, (const int64_t[]){shape->S, 64}, 2, (const int64_t[]){K_ROW},
   (const int64_t[]){128, 64}, 2, CU_TENSOR_MAP_SWIZZLE_128B, &status)" */
static void add_map(const struct code_writer *writer, const struct tensor_map_spec *map,
                    struct strbuf *body) {
    const struct tensor *tensor = &writer->template->tensors[map->tensor];
    int presence = code_truth(writer, map->when);
    strbuf_print(body, "map_tensor(");
    if (presence < 0) {
        strbuf_print(body, "!(");
        expr_to_c_add(writer->printer, map->when, body);
        strbuf_print(body, ") ? NULL : ");
    }
    if (presence == 0)
        strbuf_print(body, "NULL");
    else
        add_own_address(writer, map->tensor, body);
    strbuf_print(body, ",\n                                ");
    code_add_list(writer, tensor->shape, tensor->rank, body);
    strbuf_print(body, ", %d,\n                                ", tensor->rank);
    if (tensor->strided)
        strbuf_print(body, "(const int64_t[]){");
    for (int i = 0; tensor->strided && i < tensor->rank - 1; i++)
        strbuf_print(body, "%s%s", i > 0 ? ", " : "",
                     writer->printer->symbols.slots[tensor->strides[i]]);
    strbuf_print(body, "%s,\n                                ", tensor->strided ? "}" : "NULL");
    code_add_list(writer, map->box, tensor->rank, body);
    strbuf_print(body, ", ");
    code_add_element_bytes(writer, tensor, body);
    strbuf_print(body, ",\n                                ");
    add_swizzle(writer, map, body);
    strbuf_print(body, ", &status)");
}

static void add_argument(const struct code_writer *writer, const struct repeat *repeat,
                         const struct argument *argument, struct strbuf *body) {
    int64_t value;
    if (argument->map >= 0) {
        strbuf_print(body, "{.map = ");
        add_map(writer, &writer->template->maps[argument->map], body);
    } else if (argument->tensor >= 0) {
        strbuf_print(body, "{.pointer = ");
        add_address(writer, repeat, argument->tensor, body);
    } else if (argument->scalar >= 0) {
        const struct scalar *scalar = &writer->template->scalars[argument->scalar];
        strbuf_print(body, "{.%s = tensors->%s", dtype_name(scalar->dtype), scalar->name);
    } else {
        bool narrow = !argument->real && argument->size == 4 &&
                      !(expr_to_c_constant(writer->printer, argument->expression, &value) &&
                        value == (int32_t)value);
        strbuf_print(body, "{.%c%d = %s", argument->real ? 'f' : 'i', 8 * argument->size,
                     narrow ? "narrow(" : "");
        expr_to_c_add(writer->printer, argument->expression, body);
        strbuf_print(body, "%s", narrow ? ", &status)" : "");
    }
    strbuf_print(body, "}");
}

/* ", CONDITION ? 1 : 0"; ", 0" without a condition. */
static void add_condition(const struct code_writer *writer, const struct expression *condition,
                          struct strbuf *body) {
    strbuf_print(body, ", ");
    if (condition == NULL) {
        strbuf_print(body, "0");
    } else {
        expr_to_c_add(writer->printer, condition, body);
        strbuf_print(body, " ? 1 : 0");
    }
}

/* Makes a name expression an identifier: its words, and the number of its first launch. */
static void expression_identifier(const struct code_writer *writer, const char *kernel,
                                  char identifier[NAME_SIZE]) {
    int first = 0, used = 0;
    while (strcmp(writer->launches->launches[first].kernel, kernel) != 0)
        first++;
    for (const char *at = kernel; *at != '\0' && used < NAME_SIZE - 8; at++)
        if (isalnum((unsigned char)*at))
            identifier[used++] = *at;
        else if (used > 0 && identifier[used - 1] != '_')
            identifier[used++] = '_';
    snprintf(identifier + used, (size_t)(NAME_SIZE - used), "_%d", first);
}

/* The reference has a file of its own, where nothing else has its kernels' names. */
static const char *symbol_of(const struct code_writer *writer, const struct launch *launch,
                             char symbol[SYMBOL_SIZE]) {
    char identifier[NAME_SIZE];
    const bool expression = kernel_is_expression(launch->kernel);
    if (expression)
        expression_identifier(writer, launch->kernel, identifier);
    return variant_symbol(writer->number > 0 ? writer->number - 1 : 0,
                          expression ? identifier : launch->kernel, symbol);
}

/* Adds the call of evotile_launch (host.h.in) for a launch of the reference in `real`. */
static void add_host_launch(const struct code_writer *writer, const struct repeat *repeat,
                            const struct launch *launch, struct strbuf *body) {
    strbuf_print(body, " {\n        evotile_launch(");
    for (int i = 0; i < 6; i++) {
        expr_to_c_add(writer->printer, i < 3 ? launch->grid[i] : launch->block[i - 3], body);
        strbuf_print(body, ", ");
    }
    strbuf_print(body, "[&] {\n            %s(", launch->kernel);
    for (int i = 0; i < launch->argument_count; i++) {
        const struct argument *argument = &launch->arguments[i];
        strbuf_print(body, i > 0 ? ",\n                " : "\n                ");
        if (argument->tensor >= 0) {
            strbuf_print(body, "evotile_pointer(");
            add_address(writer, repeat, argument->tensor, body);
        } else if (argument->scalar >= 0) {
            strbuf_print(body, "(tensors->%s", writer->template->scalars[argument->scalar].name);
        } else {
            strbuf_print(body, argument->real        ? argument->size == 8 ? "double(" : "float("
                               : argument->size == 4 ? "int32_t("
                                                     : "int64_t(");
            expr_to_c_add(writer->printer, argument->expression, body);
        }
        strbuf_print(body, ")");
    }
    strbuf_print(body, ");\n        });\n    }\n");
}

static void add_packed_bytes(const struct code_writer *writer, const struct tensor *tensor,
                             struct strbuf *body) {
    code_add_element_bytes(writer, tensor, body);
    for (int i = 0; i < tensor->rank; i++) {
        strbuf_print(body, " * (int64_t)(");
        expr_to_c_add(writer->printer, tensor->shape[i], body);
        strbuf_print(body, ")");
    }
}

/* Adds the address, the bytes and the per cent of the tensor that persists in L2: of at most one.
 */
static void add_window(const struct code_writer *writer, const struct launch *launch,
                       struct strbuf *body) {
    for (int part = 0; part < 3; part++) {
        strbuf_print(body, ", ");
        for (int i = 0; i < launch->window_count; i++) {
            strbuf_print(body, "(");
            expr_to_c_add(writer->printer, launch->windows[i].percent, body);
            strbuf_print(body, ") > 0 ? ");
            strbuf_print(body, "(");
            if (part == 0)
                add_own_address(writer, launch->windows[i].tensor, body);
            else if (part == 1)
                add_packed_bytes(writer, &writer->template->tensors[launch->windows[i].tensor],
                                 body);
            else
                expr_to_c_add(writer->printer, launch->windows[i].percent, body);
            strbuf_print(body, ") : ");
        }
        strbuf_print(body, part == 0 ? "NULL" : "0");
    }
}

/* Adds the statement that launches one, unless it never happens. */
static void add_launch(const struct code_writer *writer, const struct launch *launch,
                       struct strbuf *body) {
    const struct repeat *repeat =
        launch->repeat >= 0 ? &writer->launches->repeats[launch->repeat] : NULL;
    char symbol[SYMBOL_SIZE];
    if (code_truth(writer, launch->when) == 0)
        return;
    code_add_guard(writer, launch->when, body);
    if (writer->host) {
        add_host_launch(writer, repeat, launch, body);
        return;
    }
    strbuf_print(body, " {\n        union argument arguments[] = {\n");
    for (int i = 0; i < launch->argument_count; i++) {
        strbuf_print(body, "            ");
        add_argument(writer, repeat, &launch->arguments[i], body);
        strbuf_print(body, ",\n");
    }
    /* A kernel without arguments still needs an array that C allows. */
    if (launch->argument_count == 0)
        strbuf_print(body, "            {.pointer = NULL},\n");
    strbuf_print(body,
                 "        };\n        if (status == 0)\n"
                 "            status = launch(&%s,\n                            ",
                 symbol_of(writer, launch, symbol));
    code_add_list(writer, launch->grid, 3, body);
    strbuf_print(body, ",\n                            ");
    code_add_list(writer, launch->block, 3, body);
    strbuf_print(body, ", ");
    if (launch->smem != NULL)
        expr_to_c_add(writer->printer, launch->smem, body);
    else
        strbuf_print(body, "0");
    add_condition(writer, launch->early, body);
    add_condition(writer, launch->cooperative, body);
    add_window(writer, launch, body);
    strbuf_print(body, ", arguments, %d, stream);\n    }\n", launch->argument_count);
}

/* Adds the loop over the rounds of a repeat, with the names `rounds` and ROUND. */
static void add_repeat(const struct code_writer *writer, const struct repeat *repeat,
                       struct strbuf *body) {
    struct strbuf round = {0};
    strbuf_add(&round, "", 0);
    for (int i = 0; i < repeat->count; i++)
        add_launch(writer, &writer->launches->launches[repeat->first + i], &round);
    strbuf_print(body, "    for (int64_t ROUND = 0, rounds = ");
    expr_to_c_add(writer->printer, repeat->rounds, body);
    strbuf_print(body, "; status == 0 && ROUND < rounds; ROUND++) {\n");
    for (const char *line = round.bytes; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        strbuf_print(body, "    %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
    strbuf_print(body, "    }\n");
    strbuf_release(&round);
}

void code_add_launches(const struct code_writer *writer, struct strbuf *body) {
    const struct launch_list *list = writer->launches;
    for (int i = 0; i < list->count; i++) {
        int repeat = list->launches[i].repeat;
        if (repeat < 0) {
            add_launch(writer, &list->launches[i], body);
            continue;
        }
        add_repeat(writer, &list->repeats[repeat], body);
        i += list->repeats[repeat].count - 1;
    }
}

/* "tuned_code_1": the launcher's identifier of a variant's machine code. */
static void name_code(const struct code_writer *writer, char name[NAME_SIZE + 24]) {
    snprintf(name, NAME_SIZE + 24, "%s_code_%d", writer->export->name, writer->number);
}

void code_add_variables(const struct code_writer *writer, struct strbuf *body) {
    const struct template *template = writer->template;
    char code[NAME_SIZE + 24];
    name_code(writer, code);
    for (int t = 0; t < template->tensor_count; t++) {
        const struct tensor *tensor = &template->tensors[t];
        const char *symbol = template_symbol(template, writer->launches, t);
        if (symbol == NULL || code_truth(writer, tensor->when) == 0)
            continue;
        code_add_guard(writer, tensor->when, body);
        strbuf_print(body,
                     "\n        status = copy_to_variable(&%s, \"%s\", tensors->%s,\n"
                     "                                  ",
                     code, symbol, tensor->name);
        code_add_list(writer, tensor->shape, tensor->rank, body);
        strbuf_print(body, ", %d, ", tensor->rank);
        code_add_element_bytes(writer, tensor, body);
        strbuf_print(body, ", stream);\n");
    }
}

/* True if the launch can happen and no earlier launch uses the same kernel. */
static bool is_first_use(const struct code_writer *writer, int index) {
    const struct launch *launches = writer->launches->launches;
    if (code_truth(writer, launches[index].when) == 0)
        return false;
    for (int i = 0; i < index; i++)
        if (strcmp(launches[i].kernel, launches[index].kernel) == 0 &&
            code_truth(writer, launches[i].when) != 0)
            return false;
    return true;
}

void code_add_kernels(const struct code_writer *writer, const char *cubin) {
    const struct launch *launches = writer->launches->launches;
    char symbol[SYMBOL_SIZE], code[NAME_SIZE + 24];
    name_code(writer, code);
    strbuf_print(writer->text, "static struct code %s = {%s, NULL};\n", code, cubin);
    for (int i = 0; i < writer->launches->count; i++) {
        if (!is_first_use(writer, i))
            continue;
        const char *name = kernel_names_find(writer->kernels, launches[i].kernel);
        if (kernel_is_expression(name))
            BUG("%s was not compiled", name);
        strbuf_print(writer->text, "static struct kernel %s = {&%s, \"%s\", NULL};",
                     symbol_of(writer, &launches[i], symbol), code, name);
        strbuf_print(writer->text, name != launches[i].kernel ? " /* %s */\n" : "\n",
                     launches[i].kernel);
    }
}
