/* Scopes, names, registers and the walk over a kernel's statements. */
#include "device/ptx/decode.h"

#include "device/ptx/execute.h"

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
    char place[192] = "";
    if (location && location->file < decoder->ast->file_count) {
        struct slice file = decoder->ast->files[location->file];
        snprintf(place, sizeof place, "%.*s:%d, ", file.length > 120 ? 120 : file.length, file.text,
                 location->line);
    } else if (location) {
        snprintf(place, sizeof place, "source line %d, ", location->line);
    }
    if (statement && statement->opcode.length)
        return error_set(decoder->error, "%sPTX line %d: '%.*s': %s", place, statement->line,
                         statement->opcode.length > 80 ? 80 : statement->opcode.length,
                         statement->opcode.text, text);
    return error_set(decoder->error, "%sPTX line %d: %s", place, statement ? statement->line : 0,
                     text);
}

/* ---- Code ---- */

struct instruction *emit(struct decoder *decoder, const struct instruction *instruction,
                         const uint32_t *places, int count) {
    decoder->code = array_grow(decoder->code, decoder->code_count, &decoder->code_capacity,
                               sizeof *decoder->code);
    decoder->operand_starts = array_grow(decoder->operand_starts, decoder->code_count,
                                         &decoder->start_capacity, sizeof(uint32_t));
    decoder->operand_starts[decoder->code_count] = (uint32_t)decoder->operand_count;
    struct instruction *added = &decoder->code[decoder->code_count++];
    *added = *instruction;
    added->guard = -1;
    added->location = decoder->statement ? decoder->statement->location : -1;
    if (decoder->statement && decoder->statement->guard >= 0) {
        const struct binding *guard = lookup(decoder, decoder->statement->guard);
        /* decode_statement has checked it */
        added->guard = (int32_t)guard->place;
        added->guard_negated = decoder->statement->guard_negated;
    }
    for (int i = 0; i < count; i++) {
        decoder->operands = array_grow(decoder->operands, decoder->operand_count,
                                       &decoder->operand_capacity, sizeof *decoder->operands);
        decoder->operands[decoder->operand_count++] = places[i];
    }
    return added;
}

int emit_jump(struct decoder *decoder, int name) {
    struct instruction jump = {.execute = execute_branch, .float_mode = FLOAT_ANY};
    emit(decoder, &jump, NULL, 0);
    decoder->jumps = array_grow(decoder->jumps, decoder->jump_count, &decoder->jump_capacity,
                                sizeof *decoder->jumps);
    decoder->jumps[decoder->jump_count++] =
        (struct jump){.instruction = (uint32_t)decoder->code_count - 1,
                      .name = name,
                      .scope = decoder->scope,
                      .location = decoder->statement->location,
                      .line = decoder->statement->line};
    return 0;
}

/* ---- Scopes ---- */

static void open_scope(struct decoder *decoder, int parent) {
    decoder->scopes = array_grow(decoder->scopes, decoder->scope_count, &decoder->scope_capacity,
                                 sizeof *decoder->scopes);
    decoder->scopes[decoder->scope_count] =
        (struct scope){parent, decoder->instance, decoder->range_count, decoder->binding_count};
    decoder->scope = decoder->scope_count++;
}

/* Unlinks the names of the scope. Bindings of outer scopes may have been made since it opened (a
   register of a range, used here first): they stay. */
static void close_scope(struct decoder *decoder, int back_to) {
    const struct scope *scope = &decoder->scopes[decoder->scope];
    int kept = scope->first_binding;
    for (int i = decoder->binding_count - 1; i >= scope->first_binding; i--) {
        struct binding *binding = &decoder->bindings[i];
        if (binding->scope != decoder->scope)
            continue;
        int *link = &decoder->binding_of_name[binding->name];
        while (*link != i)
            link = &decoder->bindings[*link].next;
        *link = binding->next;
        binding->name = -1;
    }
    /* Those that stay move down; links to them follow. */
    for (int i = scope->first_binding; i < decoder->binding_count; i++) {
        struct binding *binding = &decoder->bindings[i];
        if (binding->name < 0)
            continue;
        if (kept != i) {
            int *link = &decoder->binding_of_name[binding->name];
            while (*link != i)
                link = &decoder->bindings[*link].next;
            *link = kept;
            decoder->bindings[kept] = *binding;
        }
        kept++;
    }
    decoder->binding_count = kept;
    decoder->range_count = scope->first_range;
    decoder->scope = back_to;
}

static struct binding *bind(struct decoder *decoder, int name, int scope) {
    decoder->bindings = array_grow(decoder->bindings, decoder->binding_count,
                                   &decoder->binding_capacity, sizeof *decoder->bindings);
    struct binding *binding = &decoder->bindings[decoder->binding_count];
    *binding =
        (struct binding){.name = name, .scope = scope, .next = decoder->binding_of_name[name]};
    decoder->binding_of_name[name] = decoder->binding_count++;
    return binding;
}

/* ---- Registers ---- */

uint32_t new_register(struct decoder *decoder, int bytes) {
    uint32_t place = decoder->register_bytes;
    decoder->register_bytes +=
        bytes ? (uint32_t)bytes * LANES : 64; /* aligned as vectors like it */
    return place;
}

uint32_t constant(struct decoder *decoder, uint64_t bits, int bytes) {
    int width = bytes ? bytes : 4; /* a predicate is one word */
    if (width < 8)
        bits &= (1ull << 8 * width) - 1;
    int *bucket = &decoder->constant_table[(bits + (uint64_t)bytes) * 0x9e3779b97f4a7c15ull >> 54];
    if (*bucket >= 0) {
        const struct constant_slot *known = &decoder->constants[*bucket];
        if (known->bits == bits && known->bytes == bytes)
            return PLACE_CONSTANT | (uint32_t)*bucket * (uint32_t)sizeof *known;
    }
    decoder->constants = array_grow(decoder->constants, decoder->constant_count,
                                    &decoder->constant_capacity, sizeof *decoder->constants);
    struct constant_slot *slot = &decoder->constants[decoder->constant_count];
    *slot = (struct constant_slot){.bits = bits, .bytes = bytes};
    for (int lane = 0; lane < (bytes ? LANES : 1); lane++)
        memcpy(slot->lanes + lane * bytes, &bits, (size_t)width);
    *bucket = decoder->constant_count++;
    return PLACE_CONSTANT | (uint32_t)*bucket * (uint32_t)sizeof *slot;
}

static const struct {
    const char *name;
    enum special_register which;
    int bytes;
} special_table[] = {
    {"%tid.x", SPECIAL_TID_X, 4},
    {"%tid.y", SPECIAL_TID_Y, 4},
    {"%tid.z", SPECIAL_TID_Z, 4},
    {"%ntid.x", SPECIAL_NTID_X, 4},
    {"%ntid.y", SPECIAL_NTID_Y, 4},
    {"%ntid.z", SPECIAL_NTID_Z, 4},
    {"%ctaid.x", SPECIAL_CTAID_X, 4},
    {"%ctaid.y", SPECIAL_CTAID_Y, 4},
    {"%ctaid.z", SPECIAL_CTAID_Z, 4},
    {"%nctaid.x", SPECIAL_NCTAID_X, 4},
    {"%nctaid.y", SPECIAL_NCTAID_Y, 4},
    {"%nctaid.z", SPECIAL_NCTAID_Z, 4},
    {"%laneid", SPECIAL_LANEID, 4},
    {"%warpid", SPECIAL_WARPID, 4},
    {"%nwarpid", SPECIAL_NWARPID, 4},
    {"%smid", SPECIAL_SMID, 4},
    {"%nsmid", SPECIAL_NSMID, 4},
    {"%gridid", SPECIAL_GRIDID, 8},
    {"%lanemask_eq", SPECIAL_LANEMASK_EQ, 4},
    {"%lanemask_le", SPECIAL_LANEMASK_LE, 4},
    {"%lanemask_lt", SPECIAL_LANEMASK_LT, 4},
    {"%lanemask_ge", SPECIAL_LANEMASK_GE, 4},
    {"%lanemask_gt", SPECIAL_LANEMASK_GT, 4},
    {"%dynamic_smem_size", SPECIAL_DYNAMIC_SMEM_SIZE, 4},
    {"%total_smem_size", SPECIAL_TOTAL_SMEM_SIZE, 4},
    {"%cluster_ctarank", SPECIAL_ZERO, 4},
    {"%cluster_ctaid.x", SPECIAL_ZERO, 4},
    {"%cluster_nctarank", SPECIAL_ONE, 4},
    {"%cluster_nctaid.x", SPECIAL_ONE, 4},
    {"%clusterid.x", SPECIAL_CTAID_X, 4},
    {"%nclusterid.x", SPECIAL_NCTAID_X, 4},
    {"%clock", SPECIAL_CLOCK, 4},
    {"%clock_lo", SPECIAL_CLOCK, 4},
    {"%clock_hi", SPECIAL_CLOCK_HI, 4},
    {"%clock64", SPECIAL_CLOCK64, 8},
    {"%globaltimer", SPECIAL_GLOBALTIMER, 8},
    {"%globaltimer_lo", SPECIAL_CLOCK, 4},
    {"%globaltimer_hi", SPECIAL_CLOCK_HI, 4},
};

static uint32_t special_slot(struct decoder *decoder, enum special_register which, int bytes) {
    for (int i = 0; i < decoder->special_count; i++)
        if (decoder->specials[i].which == which && decoder->specials[i].bytes == bytes)
            return decoder->specials[i].place;
    decoder->specials = array_grow(decoder->specials, decoder->special_count,
                                   &decoder->special_capacity, sizeof *decoder->specials);
    uint32_t place = new_register(decoder, bytes);
    decoder->specials[decoder->special_count++] = (struct special_slot){which, bytes, place};
    return place;
}

/* Those that change are read anew by an instruction in front of the one that uses them. */
static struct binding *lookup_special(struct decoder *decoder, int name) {
    struct slice slice = decoder->ast->names[name].slice;
    for (size_t i = 0; i < sizeof special_table / sizeof *special_table; i++) {
        if (!slice_is(slice, special_table[i].name))
            continue;
        enum special_register which = special_table[i].which;
        int bytes = special_table[i].bytes;
        struct binding *binding = bind(decoder, name, decoder->scope);
        binding->bytes = bytes;
        if (which < SPECIAL_CLOCK) {
            binding->place = special_slot(decoder, which, bytes);
            return binding;
        }
        binding->place = new_register(decoder, bytes);
        /* Never found again: the next use reads the clock once more. */
        decoder->binding_of_name[name] = binding->next;
        binding->name = binding->scope = -1;
        struct instruction read = {.execute = execute_special,
                                   .float_mode = FLOAT_ANY,
                                   .input_count = (uint8_t)which,
                                   .width = (uint8_t)bytes};
        uint32_t place = binding->place;
        emit(decoder, &read, &place, 1);
        return binding;
    }
    return NULL;
}

static struct binding *lookup_range(struct decoder *decoder, int name) {
    struct slice slice = decoder->ast->names[name].slice;
    int digits = 0;
    while (digits < slice.length && digits < 8 && slice.text[slice.length - 1 - digits] >= '0' &&
           slice.text[slice.length - 1 - digits] <= '9')
        digits++;
    for (int i = decoder->range_count - 1; i >= 0; i--) {
        const struct register_range *range = &decoder->ranges[i];
        int tail = slice.length - range->prefix.length;
        if (decoder->scopes[range->scope].instance != decoder->instance)
            break;
        if (tail < 1 || tail > digits ||
            memcmp(slice.text, range->prefix.text, (size_t)range->prefix.length))
            continue;
        int index = 0;
        for (int j = range->prefix.length; j < slice.length; j++)
            index = index * 10 + slice.text[j] - '0';
        if (index >= range->count)
            continue;
        int bytes = range->bytes;
        struct binding *binding = bind(decoder, name, range->scope);
        binding->bytes = bytes;
        binding->place = new_register(decoder, bytes);
        return binding;
    }
    return NULL;
}

static struct binding *bind_module_variable(struct decoder *decoder, int name);

struct binding *lookup(struct decoder *decoder, int name) {
    for (int i = decoder->binding_of_name[name]; i >= 0; i = decoder->bindings[i].next) {
        struct binding *binding = &decoder->bindings[i];
        if (decoder->scopes[binding->scope].instance == decoder->instance)
            return binding;
    }
    struct binding *found = lookup_range(decoder, name);
    if (!found && decoder->ast->names[name].slice.text[0] == '%')
        found = lookup_special(decoder, name);
    return found ? found : bind_module_variable(decoder, name);
}

/* ---- Variables ---- */

static int declare_registers(struct decoder *decoder, const struct variable *variable) {
    int bytes = type_bytes(variable->type) * variable->vector;
    if (bytes == 1)
        bytes = 2; /* .reg .b8 does not exist, but lanes of 8 bits do no harm as 16 */
    if (bytes > 8)
        return decode_fail(decoder, "registers of %d bytes are not known", bytes);
    if (!variable->register_count) {
        struct binding *binding = bind(decoder, variable->name, decoder->scope);
        binding->bytes = bytes;
        binding->place = new_register(decoder, bytes);
        return 0;
    }
    decoder->ranges = array_grow(decoder->ranges, decoder->range_count, &decoder->range_capacity,
                                 sizeof *decoder->ranges);
    decoder->ranges[decoder->range_count++] = (struct register_range){
        decoder->ast->names[variable->name].slice, variable->register_count, bytes, decoder->scope};
    return 0;
}

static uint64_t place_variable(uint64_t *used, const struct variable *variable) {
    uint64_t alignment = variable->alignment ? variable->alignment : 1;
    uint64_t offset = (*used + alignment - 1) / alignment * alignment;
    *used = offset + variable->bytes;
    return offset;
}

/* A shared variable has one place in the block, however often its function is expanded. */
static int place_shared(struct decoder *decoder, const struct variable *variable,
                        struct binding *binding) {
    for (int i = 0; i < decoder->shared_count; i++)
        if (decoder->shared[i].variable == variable) {
            binding->address = decoder->shared[i].offset;
            return 0;
        }
    binding->address = place_variable(&decoder->shared_bytes, variable);
    if (decoder->shared_bytes > 232448)
        return decode_fail(decoder, "more than 232448 bytes of shared memory");
    decoder->shared = array_grow(decoder->shared, decoder->shared_count, &decoder->shared_capacity,
                                 sizeof *decoder->shared);
    decoder->shared[decoder->shared_count++] =
        (struct shared_variable){variable, (uint32_t)binding->address};
    return 0;
}

static int bind_variable(struct decoder *decoder, const struct variable *variable) {
    struct binding *binding = bind(decoder, variable->name, decoder->scope);
    binding->kind = BINDING_VARIABLE;
    binding->variable = variable;
    binding->space = variable->space;
    switch (variable->space) {
    case SPACE_SHARED:
        if (variable->bytes == 0) { /* extern x[]: dynamic */
            binding->kind = BINDING_REGISTER;
            binding->bytes = 8;
            uint32_t place = special_slot(decoder, SPECIAL_DYNAMIC_SMEM, 8);
            binding->place = place;
            if (variable->alignment > decoder->kernel->dynamic_smem_alignment)
                decoder->kernel->dynamic_smem_alignment = variable->alignment;
            return 0;
        }
        return place_shared(decoder, variable, binding);
    case SPACE_LOCAL:
    case SPACE_PARAM: /* of a call: a thread's own memory */
        binding->space = SPACE_LOCAL;
        binding->address = place_variable(&decoder->local_bytes, variable);
        if (decoder->local_bytes > 128 << 10)
            return decode_fail(decoder, "more than 128 KB of local memory a thread");
        return 0;
    default:
        return decode_fail(decoder, "a variable of this space cannot stand in a function");
    }
}

static struct binding *bind_module_variable(struct decoder *decoder, int name) {
    const struct ptx_module *module = decoder->module;
    for (int i = 0; i < module->variable_count; i++)
        if (module->variables[i].name == name) {
            struct binding *binding = bind(decoder, name, decoder->scope);
            binding->kind = BINDING_VARIABLE;
            binding->space = SPACE_GLOBAL;
            binding->address = module->variables[i].address;
            return binding;
        }
    for (int i = 0; i < decoder->ast->variable_count; i++) {
        const struct variable *variable = decoder->ast->variables[i];
        if (variable->name == name && variable->space == SPACE_SHARED)
            return bind_variable(decoder, variable) < 0
                       ? NULL
                       : &decoder->bindings[decoder->binding_of_name[name]];
    }
    return NULL;
}

/* ---- Statements ---- */

static int decode_statements(struct decoder *decoder, const struct function *function);

static int add_label(struct decoder *decoder, int name) {
    for (int i = decoder->label_of_name[name]; i >= 0; i = decoder->labels[i].next)
        if (decoder->labels[i].scope == decoder->scope)
            return decode_fail(decoder, "the label stands here twice");
    decoder->labels = array_grow(decoder->labels, decoder->label_count, &decoder->label_capacity,
                                 sizeof *decoder->labels);
    decoder->labels[decoder->label_count] = (struct label){
        name, decoder->scope, decoder->label_of_name[name], (uint32_t)decoder->code_count};
    decoder->label_of_name[name] = decoder->label_count++;
    return 0;
}

static int check_guard(struct decoder *decoder, const struct statement *statement) {
    if (statement->guard < 0)
        return 0;
    const struct binding *guard = lookup(decoder, statement->guard);
    if (!guard || guard->kind != BINDING_REGISTER || guard->bytes)
        return decode_fail(decoder, "its guard is no predicate");
    return 0;
}

static int decode_statement(struct decoder *decoder, const struct statement *statement) {
    decoder->statement = statement;
    if (++decoder->statement_count > STATEMENTS_MAX || decoder->code_count > CODE_MAX)
        return decode_fail(decoder, "the kernel is too large with its calls expanded");
    if (decoder->register_bytes > REGISTER_BYTES_MAX)
        return decode_fail(decoder, "the kernel has too many registers");
    switch (statement->kind) {
    case STATEMENT_OPEN:
        open_scope(decoder, decoder->scope);
        return 0;
    case STATEMENT_CLOSE:
        close_scope(decoder, decoder->scopes[decoder->scope].parent);
        return 0;
    case STATEMENT_LABEL:
        return add_label(decoder, statement->name);
    case STATEMENT_TARGETS: {
        struct binding *binding = bind(decoder, statement->name, decoder->scope);
        binding->kind = BINDING_TARGETS;
        binding->targets = statement;
        return 0;
    }
    case STATEMENT_VARIABLE:
        if (statement->variable->space == SPACE_REGISTER)
            return declare_registers(decoder, statement->variable);
        return bind_variable(decoder, statement->variable);
    default:
        return check_guard(decoder, statement) < 0 ? -1 : decode_instruction(decoder);
    }
}

static int decode_statements(struct decoder *decoder, const struct function *function) {
    for (int i = 0; i < function->statement_count; i++)
        if (decode_statement(decoder, &function->statements[i]) < 0)
            return -1;
    return 0;
}

/* The jumps that wait for labels of this function. */
static int resolve_jumps(struct decoder *decoder, int first) {
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
            return decode_fail(decoder, "jump in line %d to a label that does not exist: '%.*s'",
                               jump->line, name.length > 80 ? 80 : name.length, name.text);
        }
        uint32_t *target = jump->in_table ? &decoder->targets[jump->instruction]
                                          : &decoder->code[jump->instruction].as.branch.target;
        *target = decoder->labels[label].position;
    }
    decoder->jump_count = first;
    return 0;
}

/* ---- Calls ---- */

static const struct operand *call_list(const struct statement *statement, int index) {
    return index < statement->operand_count && statement->operands[index].kind == OPERAND_LIST
               ? &statement->operands[index]
               : NULL;
}

/* Formal parameters become other names of the caller's variables. */
static int bind_formals(struct decoder *decoder, const struct operand *actuals,
                        const struct variable *formals, int count, int caller) {
    if ((actuals ? actuals->count : 0) != count)
        return decode_fail(decoder, "the function has %d parameters or results here", count);
    int callee = decoder->instance;
    for (int i = 0; i < count; i++) {
        decoder->instance = caller;
        const struct operand *actual = &actuals->elements[i];
        const struct binding *found =
            actual->kind == OPERAND_NAME ? lookup(decoder, actual->name) : NULL;
        if (!found || found->kind != BINDING_VARIABLE || found->space != SPACE_LOCAL ||
            found->variable->bytes < formals[i].bytes)
            return decode_fail(decoder, "an argument is no .param variable of the right size");
        struct binding copy = *found;
        decoder->instance = callee;
        struct binding *binding = bind(decoder, formals[i].name, decoder->scope);
        binding->kind = BINDING_VARIABLE;
        binding->space = copy.space;
        binding->address = copy.address;
        binding->variable = copy.variable;
    }
    return 0;
}

static int call_unknown(struct decoder *decoder, struct slice name) {
    char *text = arena_take(decoder->ast->arena, 128);
    if (slice_is(name, "__assertfail"))
        snprintf(text, 128, "failed an assertion");
    else
        snprintf(text, 128, "called '%.*s', which the module does not define",
                 name.length > 64 ? 64 : name.length, name.text);
    struct instruction trap = {.execute = execute_trap, .float_mode = FLOAT_ANY, .as.text = text};
    emit(decoder, &trap, NULL, 0);
    return 0;
}

int expand_call(struct decoder *decoder) {
    const struct statement *statement = decoder->statement;
    const struct operand *results = call_list(statement, 0);
    int at = results ? 1 : 0;
    if (at >= statement->operand_count || statement->operands[at].kind != OPERAND_NAME)
        return decode_fail(decoder, "calls nothing");
    int name = statement->operands[at].name;
    const struct function *function = NULL;
    for (int i = 0; i < decoder->ast->function_count; i++)
        if (decoder->ast->functions[i].name == name && !decoder->ast->functions[i].is_entry &&
            (!function || decoder->ast->functions[i].is_defined))
            function = &decoder->ast->functions[i];
    if (!function)
        return decode_fail(decoder, "calls through a pointer are not known");
    if (!function->is_defined)
        return call_unknown(decoder, decoder->ast->names[name].slice);
    if (decoder->depth == CALL_DEPTH_MAX)
        return decode_fail(decoder, "calls nest deeper than %d: recursion is not known",
                           CALL_DEPTH_MAX);

    /* Lanes that the guard excludes jump over the body. */
    int skip = -1;
    if (statement->guard >= 0) {
        struct instruction jump = {.execute = execute_branch, .float_mode = FLOAT_ANY};
        struct instruction *added = emit(decoder, &jump, NULL, 0);
        added->guard_negated = !added->guard_negated;
        skip = decoder->code_count - 1;
    }
    int caller = decoder->instance, scope = decoder->scope, first_jump = decoder->jump_count;
    int first_return = decoder->return_count;
    bool was_in_function = decoder->in_function;
    decoder->instance = ++decoder->instance_count;
    decoder->in_function = true;
    decoder->depth++;
    open_scope(decoder, -1);
    if (bind_formals(decoder, results, function->results, function->result_count, caller) < 0 ||
        bind_formals(decoder, call_list(statement, at + 1), function->parameters,
                     function->parameter_count, caller) < 0 ||
        decode_statements(decoder, function) < 0 || resolve_jumps(decoder, first_jump) < 0)
        return -1;
    close_scope(decoder, scope);
    for (int i = first_return; i < decoder->return_count; i++)
        decoder->code[decoder->returns[i]].as.branch.target = (uint32_t)decoder->code_count;
    if (skip >= 0)
        decoder->code[skip].as.branch.target = (uint32_t)decoder->code_count;
    decoder->return_count = first_return;
    decoder->depth--;
    decoder->instance = caller;
    decoder->in_function = was_in_function;
    decoder->statement = statement;
    return 0;
}

/* ---- Kernels ---- */

static int place_parameters(struct decoder *decoder, const struct function *function) {
    struct ptx_kernel *visible = &decoder->kernel->visible;
    uint64_t used = 0;
    for (int i = 0; i < function->parameter_count; i++) {
        const struct variable *parameter = &function->parameters[i];
        struct binding *binding = bind(decoder, parameter->name, decoder->scope);
        binding->kind = BINDING_VARIABLE;
        binding->space = SPACE_PARAM;
        binding->variable = parameter;
        binding->address = place_variable(&used, parameter);
        visible->parameters[i].offset = (unsigned)binding->address;
        visible->parameters[i].bytes = (unsigned)parameter->bytes;
        visible->parameter_count = i + 1;
        visible->argument_bytes = (unsigned)used;
    }
    return 0;
}

static int decode_function(struct decoder *decoder, const struct function *function) {
    open_scope(decoder, -1);
    if (place_parameters(decoder, function) < 0 || decode_statements(decoder, function) < 0 ||
        resolve_jumps(decoder, 0) < 0)
        return -1;
    decoder->statement = NULL;
    struct instruction end = {.execute = execute_exit, .float_mode = FLOAT_ANY};
    emit(decoder, &end, NULL, 0);
    return 0;
}

static void *shrink(void *array, size_t bytes) {
    void *kept = aligned_alloc(64, (bytes + 64) / 64 * 64);
    if (!kept)
        BUG("out of memory for a kernel");
    if (bytes)
        memcpy(kept, array, bytes);
    free(array);
    return kept;
}

static void keep_code(struct decoder *decoder) {
    struct kernel *kernel = decoder->kernel;
    kernel->code_count = (uint32_t)decoder->code_count;
    kernel->operands = shrink(decoder->operands, (size_t)decoder->operand_count * sizeof(uint32_t));
    for (int i = 0; i < decoder->code_count; i++)
        decoder->code[i].operands = kernel->operands + decoder->operand_starts[i];
    kernel->code = shrink(decoder->code, (size_t)decoder->code_count * sizeof *decoder->code);
    kernel->targets = shrink(decoder->targets, (size_t)decoder->target_count * sizeof(uint32_t));
    kernel->constants =
        shrink(decoder->constants, (size_t)decoder->constant_count * sizeof *decoder->constants);
    kernel->specials =
        shrink(decoder->specials, (size_t)decoder->special_count * sizeof *decoder->specials);
    kernel->special_count = decoder->special_count;
    kernel->register_bytes = decoder->register_bytes;
    kernel->visible.static_smem_bytes = (unsigned)decoder->shared_bytes;
    kernel->visible.local_bytes = (unsigned)(decoder->local_bytes + 15) / 16 * 16;
    kernel->visible.instruction_count = decoder->code_count;
}

void decode_kernel(struct ptx_module *module, struct kernel *kernel,
                   const struct function *function) {
    struct error error = {0};
    struct decoder *decoder = calloc(1, sizeof *decoder);
    size_t heads = (size_t)module->ast->name_count * sizeof(int);
    int *head_of_name = malloc(2 * heads + 1);
    if (!decoder || !head_of_name)
        BUG("out of memory for a kernel");
    memset(head_of_name, 0xff, 2 * heads);
    memset(decoder->constant_table, 0xff, sizeof decoder->constant_table);
    decoder->module = module;
    decoder->ast = module->ast;
    decoder->kernel = kernel;
    decoder->error = &error;
    decoder->binding_of_name = head_of_name;
    decoder->label_of_name = head_of_name + module->ast->name_count;
    kernel->dynamic_smem_alignment = 16;
    if (decode_function(decoder, function) < 0) {
        size_t bytes = strlen(error.text) + 1;
        char *text = arena_take(module->ast->arena, bytes);
        memcpy(text, error.text, bytes);
        kernel->visible.error = text;
    }
    keep_code(decoder);
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
