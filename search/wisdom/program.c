#include "wisdom/program.h"

#include "device/kernel_names.h"
#include "export/export.h"
#include "wisdom/assembler.h"

#include <string.h>

/* While a variant's program is written. */
struct writer {
    struct assembler assembler;
    const struct program_source *source;
    const struct template *template;
    int round_slots; /* of the repeat that is open: rounds, then ROUND; -1: none */
    int kernel_count;
    const char *kernels[LAUNCHES_MAX];
};

/* Writes a phase after what its expressions read. */
static void add_phase(struct writer *writer, void (*add)(struct writer *writer)) {
    struct slots reads = {{0}};
    writer->assembler.reads = &reads;
    add(writer);
    writer->assembler.reads = NULL;
    assembler_compute(&writer->assembler, &reads);
    add(writer);
}

static void add_element_bytes(struct writer *writer, const struct tensor *tensor) {
    struct assembler *to = &writer->assembler;
    const int yes = dtype_bytes(tensor->dtype), no = dtype_bytes(tensor->other_dtype);
    const int truth = assembler_truth(to, tensor->dtype_when);
    if (truth >= 0 || yes == no) {
        assembler_number(to, truth != 0 ? yes : no);
        return;
    }
    assembler_expression(to, tensor->dtype_when);
    const int otherwise = assembler_add(to, WISDOM_JUMP_IF_ZERO, 0, 0, 0);
    assembler_number(to, yes);
    const int end = assembler_add(to, WISDOM_JUMP, 0, 0, 0);
    assembler_land(to, otherwise);
    assembler_number(to, no);
    assembler_land(to, end);
}

static void add_extents(struct writer *writer, const struct tensor *tensor) {
    for (int i = 0; i < tensor->rank; i++)
        assembler_expression(&writer->assembler, tensor->shape[i]);
}

/* The number of elements, of a tensor that fits. */
static void add_elements(struct writer *writer, const struct tensor *tensor) {
    add_extents(writer, tensor);
    assembler_add(&writer->assembler, WISDOM_FITS, tensor->rank, 0, 0);
}

static void add_packed_bytes(struct writer *writer, const struct tensor *tensor) {
    add_elements(writer, tensor);
    add_element_bytes(writer, tensor);
    assembler_add(&writer->assembler, WISDOM_MULTIPLY, 0, 0, 0);
}

/* ---- whether a shape has this kernel ---- */

static void add_constraints(struct writer *writer) {
    struct assembler *to = &writer->assembler;
    const struct template *template = writer->template;
    for (int d = 0; d < template->dimension_count; d++)
        if (template->dimensions[d].specialised) {
            assembler_add(to, WISDOM_LOAD, 0, d, 0);
            assembler_number(to, template->cases[writer->source->case_index].values[d]);
            assembler_add(to, WISDOM_EQUAL, 0, 0, 0);
            assembler_add(to, WISDOM_REQUIRE, 0, 0,
                          assembler_text(to, template->dimensions[d].name));
        }
    for (int t = 0; t < template->tensor_count; t++) {
        const struct tensor *tensor = &template->tensors[t];
        if (tensor->role == ROLE_MAGNITUDE || tensor->role == ROLE_SETUP || tensor->of_output ||
            assembler_truth(to, tensor->when) == 0)
            continue;
        const int skip = assembler_guard(to, tensor->when);
        add_elements(writer, tensor);
        assembler_add(to, WISDOM_DROP, 0, 0, 0);
        assembler_land(to, skip);
    }
    for (int i = 0; i < template->space->constraint_count; i++) {
        const struct constraint *constraint = &template->space->constraints[i];
        if (assembler_truth(to, constraint->expression) == 1)
            continue;
        assembler_expression(to, constraint->expression);
        assembler_add(to, WISDOM_REQUIRE, 0, 0, assembler_text(to, constraint->because));
    }
}

static void add_workspaces(struct writer *writer) {
    struct assembler *to = &writer->assembler;
    for (int t = 0; t < writer->template->tensor_count; t++) {
        const struct tensor *tensor = &writer->template->tensors[t];
        if (tensor->role != ROLE_WORKSPACE || assembler_truth(to, tensor->when) == 0)
            continue;
        const int skip = assembler_guard(to, tensor->when);
        add_packed_bytes(writer, tensor);
        assembler_add(to, WISDOM_PART, to->tensors[t], 0, 0);
        assembler_land(to, skip);
    }
}

/* ---- what is done before the launches ---- */

static void add_checks(struct writer *writer, int t) {
    struct assembler *to = &writer->assembler;
    const struct tensor *tensor = &writer->template->tensors[t];
    if (!is_parameter(tensor) || assembler_truth(to, tensor->when) == 0)
        return;
    const int skip = assembler_guard(to, tensor->when);
    assembler_add(to, WISDOM_CHECK, to->tensors[t], 0, tensor->alignment);
    if (tensor->strided) {
        add_element_bytes(writer, tensor);
        assembler_add(to, WISDOM_CHECK_STRIDES, to->tensors[t], tensor->rank - 1,
                      tensor->alignment);
    }
    assembler_land(to, skip);
}

static void add_symbol(struct writer *writer, int t) {
    struct assembler *to = &writer->assembler;
    const struct tensor *tensor = &writer->template->tensors[t];
    const char *symbol = template_symbol(writer->template, &writer->template->launches, t);
    if (symbol == NULL || assembler_truth(to, tensor->when) == 0)
        return;
    const int skip = assembler_guard(to, tensor->when);
    add_packed_bytes(writer, tensor);
    assembler_add(to, WISDOM_COPY, to->tensors[t], 0, assembler_text(to, symbol));
    assembler_land(to, skip);
}

/* ---- launches ---- */

/* The tensor with which it changes places, or -1. */
static int swap_partner(const struct repeat *repeat, int tensor) {
    for (int i = 0; repeat != NULL && i < repeat->swap_count; i++)
        if (repeat->swaps[i].read == tensor || repeat->swaps[i].written == tensor)
            return repeat->swaps[i].read == tensor ? repeat->swaps[i].written
                                                   : repeat->swaps[i].read;
    return -1;
}

/* Absent tensors are null pointers. */
static void add_own_pointer(struct writer *writer, int t) {
    struct assembler *to = &writer->assembler;
    const struct tensor *tensor = &writer->template->tensors[t];
    const int truth = assembler_truth(to, tensor->when);
    if (truth == 0 || to->tensors[t] < 0) {
        assembler_add(to, WISDOM_ARGUMENT_NULL, 0, 0, 0);
        return;
    }
    const int absent = assembler_guard(to, tensor->when);
    assembler_add(to, WISDOM_ARGUMENT_POINTER, to->tensors[t], 0, 0);
    if (absent < 0 && truth > 0)
        return;
    const int end = assembler_add(to, WISDOM_JUMP, 0, 0, 0);
    assembler_land(to, absent);
    assembler_add(to, WISDOM_ARGUMENT_NULL, 0, 0, 0);
    assembler_land(to, end);
}

/* In the last round each name denotes its own tensor, in the round before they are swapped. */
static void add_pointer(struct writer *writer, const struct repeat *repeat, int t) {
    struct assembler *to = &writer->assembler;
    const int partner = swap_partner(repeat, t);
    if (partner < 0) {
        add_own_pointer(writer, t);
        return;
    }
    assembler_add(to, WISDOM_LOAD, 0, writer->round_slots, 0);
    assembler_add(to, WISDOM_LOAD, 0, writer->round_slots + 1, 0);
    assembler_add(to, WISDOM_SUBTRACT, 0, 0, 0);
    assembler_number(to, 2);
    assembler_add(to, WISDOM_REMAINDER, 0, 0, 0);
    const int swapped = assembler_add(to, WISDOM_JUMP_IF_ZERO, 0, 0, 0);
    add_own_pointer(writer, t);
    const int end = assembler_add(to, WISDOM_JUMP, 0, 0, 0);
    assembler_land(to, swapped);
    add_own_pointer(writer, partner);
    assembler_land(to, end);
}

/* CUtensorMapSwizzle has the same numbers. */
static void add_present_map(struct writer *writer, const struct tensor_map_spec *map, int swizzle) {
    struct assembler *to = &writer->assembler;
    const struct tensor *tensor = &writer->template->tensors[map->tensor];
    const struct space *space = writer->template->space;
    add_element_bytes(writer, tensor);
    add_extents(writer, tensor);
    for (int i = 0; tensor->strided && i < tensor->rank - 1; i++)
        for (int d = 0; d < space->derived_count; d++)
            if (space->derived[d].slot == tensor->strides[i]) {
                if (to->reads != NULL)
                    slots_add(to->reads, tensor->strides[i]);
                else
                    assembler_add(to, WISDOM_LOAD, 0, to->slots[tensor->strides[i]], 0);
            }
    for (int i = 0; i < tensor->rank; i++)
        assembler_expression(to, map->box[i]);
    assembler_add(to, WISDOM_ARGUMENT_MAP, to->tensors[map->tensor],
                  swizzle | (tensor->strided ? 256 : 0), tensor->rank);
}

static void add_swizzled_map(struct writer *writer, const struct tensor_map_spec *map) {
    struct assembler *to = &writer->assembler;
    const int truth = assembler_truth(to, map->swizzle_when);
    if (truth >= 0) {
        add_present_map(writer, map, truth != 0 ? (int)map->swizzle : (int)map->other_swizzle);
        return;
    }
    const int otherwise = assembler_guard(to, map->swizzle_when);
    add_present_map(writer, map, (int)map->swizzle);
    const int end = assembler_add(to, WISDOM_JUMP, 0, 0, 0);
    assembler_land(to, otherwise);
    add_present_map(writer, map, (int)map->other_swizzle);
    assembler_land(to, end);
}

/* A map is absent where it, or its tensor, is: zeros. */
static void add_map(struct writer *writer, const struct tensor_map_spec *map) {
    struct assembler *to = &writer->assembler;
    const struct expression *conditions[] = {map->when,
                                             writer->template->tensors[map->tensor].when};
    int absent[2], end = -1;
    if (assembler_truth(to, conditions[0]) == 0 || assembler_truth(to, conditions[1]) == 0) {
        assembler_add(to, WISDOM_ARGUMENT_NO_MAP, 0, 0, 0);
        return;
    }
    const bool always =
        assembler_truth(to, conditions[0]) > 0 && assembler_truth(to, conditions[1]) > 0;
    for (int i = 0; i < 2; i++)
        absent[i] = assembler_guard(to, conditions[i]);
    add_swizzled_map(writer, map);
    if (always)
        return;
    end = assembler_add(to, WISDOM_JUMP, 0, 0, 0);
    for (int i = 0; i < 2; i++)
        assembler_land(to, absent[i]);
    assembler_add(to, WISDOM_ARGUMENT_NO_MAP, 0, 0, 0);
    assembler_land(to, end);
}

static void add_argument(struct writer *writer, const struct repeat *repeat,
                         const struct argument *argument) {
    struct assembler *to = &writer->assembler;
    if (argument->map >= 0)
        add_map(writer, &writer->template->maps[argument->map]);
    else if (argument->tensor >= 0)
        add_pointer(writer, repeat, argument->tensor);
    else if (argument->scalar >= 0)
        assembler_add(to, WISDOM_ARGUMENT_SCALAR, argument->scalar, 0, 0);
    else {
        assembler_expression(to, argument->expression);
        assembler_add(to,
                      argument->real
                          ? argument->size == 8 ? WISDOM_ARGUMENT_F64 : WISDOM_ARGUMENT_F32
                      : argument->size == 4 ? WISDOM_ARGUMENT_I32
                                            : WISDOM_ARGUMENT_I64,
                      0, 0, 0);
    }
}

/* The number of a kernel's name in the machine code. */
static int kernel_number(struct writer *writer, const char *kernel) {
    const char *name = kernel_names_find(writer->source->kernels, kernel);
    for (int k = 0; k < writer->kernel_count; k++)
        if (strcmp(writer->kernels[k], name) == 0)
            return k;
    if (kernel_is_expression(name))
        BUG("%s was not compiled", name);
    writer->kernels[writer->kernel_count] = name;
    return writer->kernel_count++;
}

/* 0 without one. */
static void add_condition(struct writer *writer, const struct expression *condition) {
    if (condition == NULL)
        assembler_number(&writer->assembler, 0);
    else
        assembler_expression(&writer->assembler, condition);
}

static void add_launch(struct writer *writer, const struct launch *launch) {
    struct assembler *to = &writer->assembler;
    const struct repeat *repeat =
        launch->repeat >= 0 ? &writer->template->launches.repeats[launch->repeat] : NULL;
    if (assembler_truth(to, launch->when) == 0)
        return;
    const int skip = assembler_guard(to, launch->when);
    for (int i = 0; i < launch->argument_count; i++)
        add_argument(writer, repeat, &launch->arguments[i]);
    for (int i = 0; i < launch->window_count; i++) {
        const int t = launch->windows[i].tensor;
        add_packed_bytes(writer, &writer->template->tensors[t]);
        assembler_expression(to, launch->windows[i].percent);
        assembler_add(to, WISDOM_WINDOW, to->tensors[t], 0, 0);
    }
    for (int i = 0; i < 3; i++)
        assembler_expression(to, launch->grid[i]);
    for (int i = 0; i < 3; i++)
        assembler_expression(to, launch->block[i]);
    add_condition(writer, launch->smem);
    add_condition(writer, launch->early);
    add_condition(writer, launch->cooperative);
    assembler_add(to, WISDOM_LAUNCH, launch->argument_count, kernel_number(writer, launch->kernel),
                  0);
    assembler_land(to, skip);
}

static void add_repeat(struct writer *writer, const struct repeat *repeat) {
    struct assembler *to = &writer->assembler;
    assembler_expression(to, repeat->rounds);
    if (to->reads == NULL) {
        writer->round_slots = to->slot_count;
        to->slot_count += 2;
        to->slots[writer->template->round_slot] = writer->round_slots + 1;
    }
    const int rounds = assembler_add(to, WISDOM_ROUNDS, 0, writer->round_slots, 0);
    for (int i = 0; i < repeat->count; i++)
        add_launch(writer, &writer->template->launches.launches[repeat->first + i]);
    assembler_add(to, WISDOM_NEXT, 0, writer->round_slots, rounds + 1);
    assembler_land(to, rounds);
}

static void add_calls(struct writer *writer) {
    const struct template *template = writer->template;
    const struct launch_list *list = &template->launches;
    struct assembler *to = &writer->assembler;
    for (int t = 0; t < template->tensor_count; t++)
        add_checks(writer, t);
    for (int t = 0; t < template->tensor_count; t++)
        if (template->tensors[t].clear && assembler_truth(to, template->tensors[t].when) != 0)
            assembler_add(to, WISDOM_CLEAR, to->tensors[t], 0, 0);
    for (int t = 0; t < template->tensor_count; t++)
        add_symbol(writer, t);
    for (int i = 0; i < list->count; i++) {
        const int repeat = list->launches[i].repeat;
        if (repeat < 0) {
            add_launch(writer, &list->launches[i]);
            continue;
        }
        add_repeat(writer, &list->repeats[repeat]);
        i += list->repeats[repeat].count - 1;
    }
}

int program_write(const struct program_source *source, struct strbuf *code, struct error *error) {
    struct writer writer = {.source = source, .template = source->template, .round_slots = -1};
    struct constants constants;
    if (constants_of_variant(&constants, source->template, source->genome, source->case_index,
                             error) < 0)
        return -1;
    assembler_init(&writer.assembler, source->template, &constants, true);
    add_phase(&writer, add_constraints);
    assembler_add(&writer.assembler, WISDOM_ADMITTED, 0, 0, 0);
    add_phase(&writer, add_workspaces);
    assembler_add(&writer.assembler, WISDOM_SIZED, 0, 0, 0);
    add_phase(&writer, add_calls);
    const int status = assembler_write(&writer.assembler, writer.kernels, writer.kernel_count,
                                       source->cubin, source->cubin_bytes, code, error);
    assembler_release(&writer.assembler);
    return status;
}

/* ---- a template ---- */

static void add_range(struct assembler *to, const struct dimension *dimension, int d) {
    char why[NAME_SIZE + 64];
    if (dimension->real) {
        uint32_t least, most;
        memcpy(&least, &dimension->least, sizeof least);
        memcpy(&most, &dimension->most, sizeof most);
        assembler_number(to, least);
        assembler_number(to, most);
        assembler_add(to, WISDOM_REAL_RANGE, 0, d, 0);
        return;
    }
    snprintf(why, sizeof why, "%s is out of its range", dimension->name);
    const int text = assembler_text(to, why);
    for (int i = 0; i < dimension->value_count; i++) {
        assembler_add(to, WISDOM_LOAD, 0, d, 0);
        assembler_number(to, dimension->values[i]);
        assembler_add(to, WISDOM_EQUAL, 0, 0, 0);
        if (i > 0)
            assembler_add(to, WISDOM_MAX, 0, 0, 0);
    }
    if (dimension->value_count == 0) {
        assembler_add(to, WISDOM_LOAD, 0, d, 0);
        assembler_number(to, dimension->minimum);
        assembler_add(to, WISDOM_GREATER_EQUAL, 0, 0, 0);
        assembler_add(to, WISDOM_LOAD, 0, d, 0);
        assembler_number(to, dimension->maximum);
        assembler_add(to, WISDOM_LESS_EQUAL, 0, 0, 0);
        assembler_add(to, WISDOM_MIN, 0, 0, 0);
    }
    assembler_add(to, WISDOM_REQUIRE, 0, 0, text);
}

int program_write_template(const struct template *template, struct strbuf *code,
                           struct error *error) {
    static const struct constants none;
    struct assembler to;
    assembler_init(&to, template, &none, false);
    for (int d = 0; d < template->dimension_count; d++) {
        const struct dimension *dimension = &template->dimensions[d];
        if (dimension->default_value != NULL)
            assembler_expression(&to, dimension->default_value);
        else
            assembler_number(&to, 0);
        assembler_add(&to, WISDOM_DEFAULT, dimension->default_value == NULL, d, 0);
        add_range(&to, dimension, d);
    }
    const int status = assembler_write(&to, NULL, 0, NULL, 0, code, error);
    assembler_release(&to);
    return status;
}
