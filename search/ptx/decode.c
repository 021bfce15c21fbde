/* Decodes a kernel's statements: labels, jumps, parameters. */
#include "ptx/decode.h"

#include "base/memory.h"
#include "ptx/execute.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int decode_fail(struct decoder *decoder, const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const struct statement *statement = decoder->statement;
    const struct location *location = statement && statement->location >= 0
                                          ? &decoder->ast->locations[statement->location]
                                          : NULL;
    char source_position[192] = "";
    if (location && location->file < decoder->ast->file_count) {
        struct slice file = decoder->ast->files[location->file];
        snprintf(source_position, sizeof source_position, "%.*s:%d, ",
                 file.length > 120 ? 120 : file.length, file.text, location->line);
    } else if (location) {
        snprintf(source_position, sizeof source_position, "source line %d, ", location->line);
    }
    if (statement && statement->opcode.length)
        return error_set(decoder->error, "%sPTX line %d: '%.*s': %s", source_position,
                         statement->line,
                         statement->opcode.length > 80 ? 80 : statement->opcode.length,
                         statement->opcode.text, text);
    return error_set(decoder->error, "%sPTX line %d: %s", source_position,
                     statement ? statement->line : 0, text);
}

/* ---- Code ---- */

void add_destination(struct decoder *decoder, uint32_t place) {
    if (decoder->destination_count < RESULTS_MAX)
        decoder->destinations[decoder->destination_count++] = place;
}

static bool is_among(const uint32_t *places, int count, uint32_t place) {
    for (int i = 0; i < count; i++)
        if (places[i] == place)
            return true;
    return false;
}

/* Results come first, each once: a register that comes again is a source. */
static uint16_t count_results(const struct decoder *decoder, const uint32_t *places, int count) {
    int results = 0;
    while (results < count && !is_among(places, results, places[results]) &&
           is_among(decoder->destinations, decoder->destination_count, places[results]))
        results++;
    return (uint16_t)results;
}

int emit_instruction(struct decoder *decoder, const struct instruction *instruction,
                     const uint32_t *places, int count) {
    if (decoder->error->kind)
        return -1;
    decoder->code = xgrow(decoder->code, decoder->code_count, sizeof *decoder->code);
    decoder->operand_starts = xgrow(decoder->operand_starts, decoder->code_count, sizeof(uint32_t));
    decoder->operand_starts[decoder->code_count] = (uint32_t)decoder->operand_count;
    struct instruction *added = &decoder->code[decoder->code_count++];
    *added = *instruction;
    added->operand_count = (uint16_t)count;
    added->result_count = count_results(decoder, places, count);
    added->is_move = decoder->moves;
    added->guard = -1;
    added->location = decoder->statement ? decoder->statement->location : -1;
    if (decoder->statement && decoder->statement->guard >= 0) {
        const struct binding *guard = lookup_name(decoder, decoder->statement->guard);
        /* check_guard has verified it */
        added->guard = (int32_t)guard->place;
        added->guard_negated = decoder->statement->guard_negated;
    }
    for (int i = 0; i < count; i++) {
        decoder->operands =
            xgrow(decoder->operands, decoder->operand_count, sizeof *decoder->operands);
        decoder->operands[decoder->operand_count++] = places[i];
    }
    return 0;
}

int emit_jump(struct decoder *decoder, int name) {
    struct instruction jump = new_instruction(execute_branch);
    emit_instruction(decoder, &jump, NULL, 0);
    decoder->jumps = xgrow(decoder->jumps, decoder->jump_count, sizeof *decoder->jumps);
    decoder->jumps[decoder->jump_count++] =
        (struct jump){.instruction = (uint32_t)decoder->code_count - 1,
                      .name = name,
                      .scope = decoder->scope,
                      .location = decoder->statement->location,
                      .line = decoder->statement->line};
    return 0;
}

/* ---- Statements ---- */

static int add_label(struct decoder *decoder, int name) {
    for (int i = decoder->label_of_name[name]; i >= 0; i = decoder->labels[i].next)
        if (decoder->labels[i].scope == decoder->scope)
            return decode_fail(decoder, "the label is defined twice");
    decoder->labels = xgrow(decoder->labels, decoder->label_count, sizeof *decoder->labels);
    decoder->labels[decoder->label_count] = (struct label){
        name, decoder->scope, decoder->label_of_name[name], (uint32_t)decoder->code_count};
    decoder->label_of_name[name] = decoder->label_count++;
    return 0;
}

static int check_guard(struct decoder *decoder, const struct statement *statement) {
    if (statement->guard < 0)
        return 0;
    const struct binding *guard = lookup_name(decoder, statement->guard);
    if (!guard || guard->kind != BINDING_REGISTER || guard->bytes)
        return decode_fail(decoder, "the guard is not a predicate");
    return 0;
}

static const char *keep_text(const struct decoder *decoder, const char *text) {
    size_t bytes = strlen(text) + 1;
    return memcpy(arena_alloc(decoder->ast->arena, bytes), text, bytes);
}

/* Appends an instruction that faults with the decoder's error when it is executed. */
static int emit_unsupported(struct decoder *decoder) {
    struct instruction unsupported = new_instruction(execute_unsupported);
    unsupported.as.text = keep_text(decoder, decoder->error->text);
    if (!decoder->kernel->info.error)
        decoder->kernel->info.error = unsupported.as.text;
    *decoder->error = (struct error){0};
    return emit_instruction(decoder, &unsupported, NULL, 0);
}

/* An instruction that cannot be decoded does not keep the rest of its kernel from running; an
   inlined call does. */
static int decode_or_defer(struct decoder *decoder) {
    int code = decoder->code_count, operands = decoder->operand_count;
    int jumps = decoder->jump_count, returns = decoder->return_count, scope = decoder->scope;
    if (decode_instruction(decoder) == 0)
        return 0;
    if (decoder->scope != scope)
        return -1;
    decoder->code_count = code;
    decoder->operand_count = operands;
    decoder->jump_count = jumps;
    decoder->return_count = returns;
    return emit_unsupported(decoder);
}

static int decode_statement(struct decoder *decoder, const struct statement *statement) {
    decoder->statement = statement;
    if (++decoder->statement_count > STATEMENTS_MAX || decoder->code_count > CODE_MAX)
        return decode_fail(decoder, "the kernel is too large with its calls inlined");
    if (decoder->register_bytes > REGISTER_BYTES_MAX)
        return decode_fail(decoder, "the kernel has too many registers");
    switch (statement->kind) {
    case STATEMENT_SCOPE_BEGIN:
        open_scope(decoder, decoder->scope);
        return 0;
    case STATEMENT_SCOPE_END:
        close_scope(decoder, decoder->scopes[decoder->scope].parent);
        return 0;
    case STATEMENT_LABEL:
        return add_label(decoder, statement->name);
    case STATEMENT_BRANCH_TARGETS: {
        struct binding *binding = bind_name(decoder, statement->name, decoder->scope);
        binding->kind = BINDING_BRANCH_TARGETS;
        binding->targets = statement;
        return 0;
    }
    case STATEMENT_VARIABLE:
        if (statement->variable->space == SPACE_REGISTER)
            return declare_registers(decoder, statement->variable);
        return declare_variable(decoder, statement->variable);
    default:
        return check_guard(decoder, statement) < 0 ? -1 : decode_or_defer(decoder);
    }
}

int decode_statements(struct decoder *decoder, const struct function *function) {
    for (int i = 0; i < function->statement_count; i++)
        if (decode_statement(decoder, &function->statements[i]) < 0)
            return -1;
    return 0;
}

int resolve_jumps(struct decoder *decoder, int first) {
    for (int i = first; i < decoder->jump_count; i++) {
        const struct jump *jump = &decoder->jumps[i];
        int label = -1;
        for (int scope = jump->scope; scope >= 0 && label < 0;
             scope = decoder->scopes[scope].parent)
            for (int j = decoder->label_of_name[jump->name]; j >= 0; j = decoder->labels[j].next)
                if (decoder->labels[j].scope == scope)
                    label = j;
        if (label < 0) {
            struct slice name = decoder->ast->names[jump->name].slice;
            decoder->statement = NULL;
            return decode_fail(decoder, "line %d jumps to an undefined label: '%.*s'", jump->line,
                               name.length > 80 ? 80 : name.length, name.text);
        }
        uint32_t *target = jump->in_table ? &decoder->targets[jump->instruction]
                                          : &decoder->code[jump->instruction].as.branch.target;
        *target = decoder->labels[label].position;
    }
    decoder->jump_count = first;
    return 0;
}

/* ---- Kernels ---- */

static int declare_parameters(struct decoder *decoder, const struct function *function) {
    struct ptx_kernel *info = &decoder->kernel->info;
    uint64_t used = 0;
    for (int i = 0; i < function->parameter_count; i++) {
        const struct variable *parameter = &function->parameters[i];
        struct binding *binding = bind_name(decoder, parameter->name, decoder->scope);
        binding->kind = BINDING_VARIABLE;
        binding->space = SPACE_PARAM;
        binding->variable = parameter;
        binding->offset = allocate_variable(&used, parameter);
        info->parameters[i].offset = (unsigned)binding->offset;
        info->parameters[i].bytes = (unsigned)parameter->bytes;
        info->parameter_count = i + 1;
        info->argument_bytes = (unsigned)used;
    }
    return 0;
}

static int decode_function(struct decoder *decoder, const struct function *function) {
    open_scope(decoder, -1);
    if (declare_parameters(decoder, function) < 0 || decode_statements(decoder, function) < 0 ||
        resolve_jumps(decoder, 0) < 0)
        return -1;
    decoder->statement = NULL;
    struct instruction end = new_instruction(execute_exit);
    emit_instruction(decoder, &end, NULL, 0);
    return decode_routines(decoder);
}

static void *copy_aligned(void *array, size_t bytes) {
    void *copy = aligned_alloc(64, (bytes + 64) / 64 * 64);
    if (!copy)
        BUG("out of memory for a kernel");
    if (bytes)
        memcpy(copy, array, bytes);
    free(array);
    return copy;
}

static void finish_kernel(struct decoder *decoder) {
    struct kernel *kernel = decoder->kernel;
    kernel->code_count = (uint32_t)decoder->code_count;
    kernel->operands =
        copy_aligned(decoder->operands, (size_t)decoder->operand_count * sizeof(uint32_t));
    for (int i = 0; i < decoder->code_count; i++)
        decoder->code[i].operands = kernel->operands + decoder->operand_starts[i];
    kernel->code = copy_aligned(decoder->code, (size_t)decoder->code_count * sizeof *decoder->code);
    kernel->targets =
        copy_aligned(decoder->targets, (size_t)decoder->target_count * sizeof(uint32_t));
    kernel->constants = copy_aligned(decoder->constants,
                                     (size_t)decoder->constant_count * sizeof *decoder->constants);
    kernel->specials =
        copy_aligned(decoder->specials, (size_t)decoder->special_count * sizeof *decoder->specials);
    kernel->special_count = decoder->special_count;
    kernel->register_bytes = decoder->register_bytes;
    kernel->info.static_smem_bytes = (unsigned)decoder->shared_bytes;
    kernel->info.local_bytes =
        (unsigned)(decoder->local_bytes + 15) / 16 * 16 + (kernel->routine_count ? STACK_BYTES : 0);
    kernel->info.instruction_count = decoder->code_count;
}

void decode_kernel(struct ptx_module *module, struct kernel *kernel,
                   const struct function *function) {
    struct error error = {0};
    struct decoder *decoder = xcalloc(1, sizeof *decoder);
    size_t heads = (size_t)module->ast->name_count * sizeof(int);
    int *head_of_name = xmalloc(2 * heads + 1);
    memset(head_of_name, 0xff, 2 * heads);
    memset(decoder->constant_table, 0xff, sizeof decoder->constant_table);
    decoder->module = module;
    decoder->ast = module->ast;
    decoder->kernel = kernel;
    decoder->error = &error;
    decoder->binding_of_name = head_of_name;
    decoder->label_of_name = head_of_name + module->ast->name_count;
    decoder->routine = -1;
    kernel->dynamic_smem_alignment = 16;
    if (decode_function(decoder, function) < 0) {
        decoder->statement = NULL;
        struct instruction end = new_instruction(execute_exit);
        decoder->code_count = decoder->operand_count = 0;
        emit_unsupported(decoder);
        emit_instruction(decoder, &end, NULL, 0);
    }
    finish_kernel(decoder);
    free(head_of_name);
    free(decoder->operand_starts);
    free(decoder->bindings);
    free(decoder->scopes);
    free(decoder->ranges);
    free(decoder->labels);
    free(decoder->jumps);
    free(decoder->returns);
    free(decoder->shared);
    free(decoder);
}
