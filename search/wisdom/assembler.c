#include "wisdom/assembler.h"

#include "base/memory.h"
#include "base/signature.h"
#include "export/export.h"
#include "space/expression_tree.h"

#include <string.h>

/* ---- instructions ---- */

/* A caller of the launcher gives the first tensors, in the template's order. */
static void number_tensors(struct assembler *assembler, bool with_workspaces) {
    const struct template *template = assembler->template;
    for (int t = 0; t < TENSORS_MAX; t++)
        assembler->tensors[t] = -1;
    for (int t = 0; t < template->tensor_count; t++)
        if (is_parameter(&template->tensors[t]))
            assembler->tensors[t] = assembler->given_count++;
    assembler->tensor_count = assembler->given_count;
    for (int t = 0; t < template->tensor_count && with_workspaces; t++)
        if (template->tensors[t].role == ROLE_WORKSPACE) {
            assembler->tensors[t] = assembler->tensor_count++;
            assembler->header.roles[assembler->tensors[t]] = WISDOM_WORKSPACE;
        }
}

void assembler_init(struct assembler *assembler, const struct template *template,
                    const struct constants *constants, bool with_workspaces) {
    *assembler = (struct assembler){.template = template, .constants = constants};
    for (int slot = 0; slot < SLOTS_MAX; slot++)
        assembler->slots[slot] = -1;
    for (int d = 0; d < template->dimension_count; d++)
        assembler->slots[template->space->dimensions[d]] = assembler->slot_count++;
    number_tensors(assembler, with_workspaces);
    assembler_text(assembler, "");
}

void assembler_release(struct assembler *assembler) {
    free(assembler->instructions);
    strbuf_release(&assembler->text);
}

int assembler_add(struct assembler *assembler, enum wisdom_op op, int a, int b, int64_t c) {
    if (assembler->reads != NULL)
        return 0;
    if (assembler->count + 2 > assembler->capacity) {
        assembler->capacity = 2 * assembler->capacity + 64;
        assembler->instructions = xrealloc(
            assembler->instructions, (size_t)assembler->capacity * sizeof *assembler->instructions);
    }
    assembler->instructions[assembler->count] = (struct wisdom_instruction){
        .op = (uint8_t)op, .a = (uint8_t)a, .b = (uint16_t)b, .c = (int32_t)c};
    return assembler->count++;
}

void assembler_number(struct assembler *assembler, int64_t number) {
    if (number == (int32_t)number) {
        assembler_add(assembler, WISDOM_PUSH, 0, 0, number);
        return;
    }
    assembler_add(assembler, WISDOM_PUSH_WIDE, 0, 0, 0);
    if (assembler->reads == NULL)
        memcpy(&assembler->instructions[assembler->count++], &number, sizeof number);
}

int assembler_text(struct assembler *assembler, const char *text) {
    const size_t at = assembler->text.used;
    if (assembler->reads == NULL)
        strbuf_add(&assembler->text, text, strlen(text) + 1);
    return (int)at;
}

void assembler_land(struct assembler *assembler, int jump) {
    if (assembler->reads == NULL && jump >= 0)
        assembler->instructions[jump].c = assembler->count;
}

/* ---- expressions ---- */

static const enum wisdom_op operations[OP_COUNT] = {
    [OP_NEGATE] = WISDOM_NEGATE,
    [OP_NOT] = WISDOM_NOT,
    [OP_EQUAL] = WISDOM_EQUAL,
    [OP_NOT_EQUAL] = WISDOM_NOT_EQUAL,
    [OP_LESS_EQUAL] = WISDOM_LESS_EQUAL,
    [OP_GREATER_EQUAL] = WISDOM_GREATER_EQUAL,
    [OP_LESS] = WISDOM_LESS,
    [OP_GREATER] = WISDOM_GREATER,
    [OP_ADD] = WISDOM_ADD,
    [OP_SUBTRACT] = WISDOM_SUBTRACT,
    [OP_MULTIPLY] = WISDOM_MULTIPLY,
    [OP_DIVIDE] = WISDOM_DIVIDE,
    [OP_REMAINDER] = WISDOM_REMAINDER,
    [OP_MIN] = WISDOM_MIN,
    [OP_MAX] = WISDOM_MAX,
    [OP_CEIL_DIV] = WISDOM_CEIL_DIV,
    [OP_LOG2] = WISDOM_LOG2,
};

static void add_node(struct assembler *assembler, const struct expression *expression, int index);

/* a && b, a || b: the second only where the first does not decide. */
static void add_logic(struct assembler *assembler, const struct expression *expression,
                      const struct expression_node *node) {
    const bool or = node->op == OP_OR;
    add_node(assembler, expression, node->operands[0]);
    const int decided = assembler_add(assembler, WISDOM_JUMP_IF_ZERO, 0, 0, 0);
    if (or)
        assembler_number(assembler, 1);
    else {
        add_node(assembler, expression, node->operands[1]);
        assembler_add(assembler, WISDOM_TRUTH, 0, 0, 0);
    }
    const int end = assembler_add(assembler, WISDOM_JUMP, 0, 0, 0);
    assembler_land(assembler, decided);
    if (or) {
        add_node(assembler, expression, node->operands[1]);
        assembler_add(assembler, WISDOM_TRUTH, 0, 0, 0);
    } else
        assembler_number(assembler, 0);
    assembler_land(assembler, end);
}

static void add_choice(struct assembler *assembler, const struct expression *expression,
                       const struct expression_node *node) {
    add_node(assembler, expression, node->operands[0]);
    const int otherwise = assembler_add(assembler, WISDOM_JUMP_IF_ZERO, 0, 0, 0);
    add_node(assembler, expression, node->operands[1]);
    const int end = assembler_add(assembler, WISDOM_JUMP, 0, 0, 0);
    assembler_land(assembler, otherwise);
    add_node(assembler, expression, node->operands[2]);
    assembler_land(assembler, end);
}

static void add_slot(struct assembler *assembler, int slot) {
    if (assembler->reads != NULL) {
        slots_add(assembler->reads, slot);
        return;
    }
    if (assembler->slots[slot] < 0)
        BUG("%s is read before it is computed", assembler->template->space->symbols.slots[slot]);
    assembler_add(assembler, WISDOM_LOAD, 0, assembler->slots[slot], 0);
}

static void add_node(struct assembler *assembler, const struct expression *expression, int index) {
    const struct expression_node *node = &expression->nodes[index];
    struct fault fault;
    int64_t value;
    if (expression_value(expression, index, &assembler->constants->known,
                         assembler->constants->values, &value, &fault)) {
        assembler_number(assembler, value);
        return;
    }
    switch ((enum op)node->op) {
    case OP_NUMBER:
        assembler_number(assembler, node->number);
        return;
    case OP_SLOT:
        add_slot(assembler, (int)node->number);
        return;
    case OP_AND:
    case OP_OR:
        add_logic(assembler, expression, node);
        return;
    case OP_CHOOSE:
        add_choice(assembler, expression, node);
        return;
    default:
        add_node(assembler, expression, node->operands[0]);
        if (node->op != OP_NEGATE && node->op != OP_NOT && node->op != OP_LOG2)
            add_node(assembler, expression, node->operands[1]);
        assembler_add(assembler, operations[node->op], 0, 0, 0);
    }
}

void assembler_expression(struct assembler *assembler, const struct expression *expression) {
    if (expression == NULL)
        assembler_number(assembler, 1);
    else
        add_node(assembler, expression, expression->root);
}

int assembler_truth(const struct assembler *assembler, const struct expression *when) {
    int64_t value;
    if (when == NULL)
        return 1;
    if (!expression_decide(when, &assembler->constants->known, assembler->constants->values,
                           &value))
        return -1;
    return value != 0;
}

int assembler_guard(struct assembler *assembler, const struct expression *when) {
    if (assembler_truth(assembler, when) >= 0)
        return -1;
    assembler_expression(assembler, when);
    return assembler_add(assembler, WISDOM_JUMP_IF_ZERO, 0, 0, 0);
}

static void compute_one(struct assembler *assembler, const struct derived *derived) {
    const struct template *template = assembler->template;
    int stride;
    const struct tensor *tensor = constants_strided_tensor(template, derived->slot, &stride);
    assembler_expression(assembler, derived->expression);
    if (tensor != NULL && is_parameter(tensor))
        assembler_add(assembler, WISDOM_STRIDE, assembler->tensors[tensor - template->tensors],
                      stride, 0);
    assembler->slots[derived->slot] = assembler->slot_count++;
    assembler_add(assembler, WISDOM_STORE, 0, assembler->slots[derived->slot], 0);
    slots_add(&assembler->computed, derived->slot);
}

void assembler_compute(struct assembler *assembler, const struct slots *reads) {
    const struct space *space = assembler->template->space;
    struct slots needed = *reads;
    /* A quantity reads only earlier ones. */
    for (int i = space->derived_count - 1; i >= 0; i--)
        if (slots_has(&needed, space->derived[i].slot))
            slots_join(&needed, expression_reads(space->derived[i].expression));
    for (int i = 0; i < space->derived_count; i++) {
        const int slot = space->derived[i].slot;
        if (slots_has(&needed, slot) && !slots_has(&assembler->constants->known, slot) &&
            !slots_has(&assembler->computed, slot))
            compute_one(assembler, &space->derived[i]);
    }
}

/* ---- the code ---- */

static void pad(struct strbuf *code, size_t from, size_t to) {
    static const char zeros[16] = {0};
    const size_t used = code->used - from;
    strbuf_add(code, zeros, (to - used % to) % to);
}

static int add_name(struct assembler *assembler, const char *name, struct strbuf *names) {
    const uint32_t offset = (uint32_t)assembler_text(assembler, name);
    strbuf_add(names, (const char *)&offset, sizeof offset);
    return 1;
}

static void add_names(struct assembler *assembler, const char *const *kernels, int kernel_count,
                      struct strbuf *names) {
    const struct template *template = assembler->template;
    struct wisdom_program *header = &assembler->header;
    for (int d = 0; d < template->dimension_count; d++)
        add_name(assembler, template->dimensions[d].name, names);
    for (int number = 0; number < assembler->tensor_count; number++)
        for (int t = 0; t < template->tensor_count; t++)
            if (assembler->tensors[t] == number)
                add_name(assembler, template->tensors[t].name, names);
    for (int s = 0; s < template->scalar_count; s++) {
        add_name(assembler, template->scalars[s].name, names);
        header->scalar_bytes[s] = (uint8_t)dtype_bytes(template->scalars[s].dtype);
    }
    for (int k = 0; k < kernel_count; k++)
        add_name(assembler, kernels[k], names);
    header->dimension_count = (uint32_t) template->dimension_count;
    header->tensor_count = (uint32_t)assembler->tensor_count;
    header->scalar_count = (uint32_t) template->scalar_count;
    header->kernel_count = (uint32_t)kernel_count;
}

int assembler_write(struct assembler *assembler, const char *const *kernels, int kernel_count,
                    const void *cubin, size_t cubin_bytes, struct strbuf *code,
                    struct error *error) {
    struct strbuf names = {0};
    const size_t from = code->used;
    struct wisdom_program *header = &assembler->header;
    assembler_add(assembler, WISDOM_END, 0, 0, 0);
    add_names(assembler, kernels, kernel_count, &names);
    if (assembler->slot_count > WISDOM_SLOTS_MAX || assembler->count > INT16_MAX)
        assembler->problem = "has too many quantities for a launch program";
    header->slot_count = (uint32_t)assembler->slot_count;
    header->instruction_count = (uint32_t)assembler->count;
    header->text_bytes = (uint32_t)assembler->text.used;
    header->cubin_bytes = (cubin_bytes + 15) / 16 * 16;
    header->cubin_padding = (uint32_t)(header->cubin_bytes - cubin_bytes);
    struct strbuf machine = {0};
    strbuf_add(&machine, cubin != NULL ? cubin : "", cubin_bytes);
    pad(&machine, 0, 16);
    digest_bytes(machine.bytes, machine.used, header->cubin_digest);
    strbuf_add(code, (const char *)header, sizeof *header);
    strbuf_add(code, names.bytes != NULL ? names.bytes : "", names.used);
    pad(code, from, 8);
    strbuf_add(code, (const char *)assembler->instructions,
               (size_t)assembler->count * sizeof *assembler->instructions);
    strbuf_add(code, assembler->text.bytes, assembler->text.used);
    pad(code, from, 16);
    strbuf_add(code, machine.bytes, machine.used);
    strbuf_release(&machine);
    strbuf_release(&names);
    return assembler->problem == NULL
               ? 0
               : error_input(error, "%s %s", assembler->template->name, assembler->problem);
}
