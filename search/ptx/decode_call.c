/* Decodes calls: inlines them, or emits calls of routines. */
#include "base/memory.h"
#include "ptx/decode.h"

#include "ptx/execute.h"

static const struct operand *call_operand_list(const struct statement *statement, int index) {
    return index < statement->operand_count && statement->operands[index].kind == OPERAND_LIST
               ? &statement->operands[index]
               : NULL;
}

/* Binds the formal parameters to the caller's variables. */
static int bind_parameters(struct decoder *decoder, const struct operand *actuals,
                           const struct variable *parameters, int count, int caller) {
    if ((actuals ? actuals->count : 0) != count)
        return decode_fail(decoder, "the function has %d parameters or results", count);
    int callee = decoder->instance;
    for (int i = 0; i < count; i++) {
        decoder->instance = caller;
        const struct operand *actual = &actuals->elements[i];
        const struct binding *found = lookup_operand(decoder, actual);
        if (!found || found->kind != BINDING_VARIABLE || found->space != SPACE_LOCAL ||
            found->variable->bytes < parameters[i].bytes)
            return decode_fail(decoder, "an argument is not a .param variable of the right size");
        struct binding copy = *found;
        decoder->instance = callee;
        struct binding *binding = bind_name(decoder, parameters[i].name, decoder->scope);
        binding->kind = BINDING_VARIABLE;
        binding->space = copy.space;
        binding->offset = copy.offset;
        binding->in_frame = copy.in_frame;
        binding->variable = copy.variable;
    }
    return 0;
}

/* Returns the local memory offset of a call's index-th argument or result; -1 if it is not a
   variable. */
static int64_t argument_offset(struct decoder *decoder, const struct operand *list, int index) {
    const struct binding *found =
        list && index < list->count ? lookup_operand(decoder, &list->elements[index]) : NULL;
    return found && found->kind == BINDING_VARIABLE && found->space == SPACE_LOCAL
               ? (int64_t)found->offset
               : -1;
}

/* printf: vprintf(format, arguments) with an integer result. */
static int emit_printf(struct decoder *decoder, const struct operand *results,
                       const struct operand *actuals) {
    int64_t format = argument_offset(decoder, actuals, 0),
            arguments = argument_offset(decoder, actuals, 1);
    int64_t result = argument_offset(decoder, results, 0);
    decoder->kernel->info.blocks_communicate = true;
    struct instruction print = new_instruction(execute_print);
    if (format < 0 || arguments < 0)
        return decode_fail(decoder, "vprintf takes a format and arguments");
    print.as.print = (struct print_form){.format = (uint32_t)format,
                                         .arguments = (uint32_t)arguments,
                                         .result = result < 0 ? NO_PC : (uint32_t)result,
                                         .in_frame = decoder->routine >= 0};
    return emit_instruction(decoder, &print, NULL, 0);
}

static int emit_undefined_call(struct decoder *decoder, struct slice name) {
    char *text = arena_alloc(decoder->ast->arena, 128);
    if (slice_is(name, "__assertfail"))
        snprintf(text, 128, "failed an assertion");
    else
        snprintf(text, 128, "called '%.*s', which the module does not define",
                 name.length > 64 ? 64 : name.length, name.text);
    struct instruction trap = {.execute = execute_trap, .float_mode = FLOAT_ANY, .as.text = text};
    return emit_instruction(decoder, &trap, NULL, 0);
}

/* ---- routines ---- */

/* Returns the kernel's routine for a function, adding it if necessary; its body is decoded later.
   -1 on errors. */
static int find_or_add_routine(struct decoder *decoder, const struct function *function) {
    struct kernel *kernel = decoder->kernel;
    uint64_t frame_bytes = 0;
    for (int i = 0; i < kernel->routine_count; i++)
        if (kernel->routines[i].name == function->name)
            return i;
    int values = function->result_count + function->parameter_count;
    if (values > ROUTINE_VALUES)
        return decode_fail(decoder, "the function has more than %d parameters", ROUTINE_VALUES);
    if (!kernel->routine_count)
        kernel->frame = special_register_place(decoder, SPECIAL_FRAME, 8);
    kernel->routines = xgrow(kernel->routines, kernel->routine_count, sizeof *kernel->routines);
    struct routine *routine = &kernel->routines[kernel->routine_count];
    *routine = (struct routine){
        .name = function->name, .result_count = function->result_count, .value_count = values};
    for (int i = 0; i < values; i++) {
        const struct variable *value = i < function->result_count
                                           ? &function->results[i]
                                           : &function->parameters[i - function->result_count];
        routine->values[i].offset = (uint32_t)allocate_variable(&frame_bytes, value);
        routine->values[i].bytes = (uint32_t)value->bytes;
    }
    routine->frame_bytes = (uint32_t)frame_bytes;
    return kernel->routine_count++;
}

static int list_count(const struct operand *list) {
    return list ? list->count : 0;
}

/* Emits a call of a routine; -1: through the pointer at *pointer. */
static int emit_routine_call(struct decoder *decoder, int routine, const uint32_t *pointer,
                             const struct operand *results, const struct operand *parameters) {
    uint32_t places[1 + 2 * ROUTINE_VALUES];
    int at = 0, count = list_count(results) + list_count(parameters);
    struct instruction call = {
        .execute = execute_call,
        .float_mode = FLOAT_ANY,
        .as.call = {routine, decoder->routine, (int16_t)list_count(results), (int16_t)count}};
    if (count > ROUTINE_VALUES)
        return decode_fail(decoder, "passes more than %d parameters", ROUTINE_VALUES);
    if (pointer)
        places[at++] = *pointer;
    for (int i = 0; i < count; i++) {
        bool is_result = i < list_count(results);
        const struct operand *actual =
            is_result ? &results->elements[i] : &parameters->elements[i - list_count(results)];
        const struct binding *found = lookup_operand(decoder, actual);
        if (!found || found->kind != BINDING_VARIABLE || found->space != SPACE_LOCAL ||
            found->in_frame != (decoder->routine >= 0))
            return decode_fail(decoder, "an argument is not a .param variable");
        places[at++] = (uint32_t)found->offset;
        places[at++] = (uint32_t)found->variable->bytes;
    }
    return emit_instruction(decoder, &call, places, at);
}

static bool signature_matches(const struct decoder *decoder, const struct instruction *call,
                              const struct variable *values, int count, int first) {
    const uint32_t *places = decoder->operands + decoder->operand_starts[call - decoder->code];
    for (int i = 0; i < count; i++)
        if (places[1 + 2 * (first + i) + 1] != values[i].bytes)
            return false;
    return true;
}

/* Emits an indirect call. Every function with a matching signature may be the callee. */
static int emit_indirect_call(struct decoder *decoder, const struct operand *pointer,
                              const struct operand *results, const struct operand *parameters) {
    uint32_t place = decode_source(decoder, pointer, TYPE_U64, 8);
    if (emit_routine_call(decoder, -1, &place, results, parameters) < 0)
        return -1;
    for (int i = 0; i < decoder->ast->function_count; i++) {
        const struct function *function = &decoder->ast->functions[i];
        const struct instruction *call = &decoder->code[decoder->code_count - 1];
        if (function->is_entry || !function->is_defined ||
            function->result_count != list_count(results) ||
            function->parameter_count != list_count(parameters) ||
            !signature_matches(decoder, call, function->results, function->result_count, 0) ||
            !signature_matches(decoder, call, function->parameters, function->parameter_count,
                               function->result_count))
            continue;
        if (find_or_add_routine(decoder, function) < 0)
            return -1;
    }
    if (!decoder->kernel->routine_count) /* the call needs a frame even if no function matches */
        decoder->kernel->frame = special_register_place(decoder, SPECIAL_FRAME, 8);
    return 0;
}

static int emit_recursive_call(struct decoder *decoder, const struct function *function,
                               const struct operand *results, const struct operand *parameters) {
    if (list_count(results) != function->result_count ||
        list_count(parameters) != function->parameter_count)
        return decode_fail(decoder, "the function has %d results and %d parameters",
                           function->result_count, function->parameter_count);
    int routine = find_or_add_routine(decoder, function);
    if (routine < 0 || emit_routine_call(decoder, routine, NULL, results, parameters) < 0)
        return -1;
    const struct instruction *call = &decoder->code[decoder->code_count - 1];
    const uint32_t *places = decoder->operands + decoder->operand_starts[call - decoder->code];
    for (int i = 0; i < call->as.call.value_count; i++)
        if (places[2 * i + 1] != decoder->kernel->routines[routine].values[i].bytes)
            return decode_fail(decoder, "an argument is not of the right size");
    return 0;
}

static void bind_frame_variable(struct decoder *decoder, const struct variable *value,
                                uint32_t offset) {
    struct binding *binding = bind_name(decoder, value->name, decoder->scope);
    binding->kind = BINDING_VARIABLE;
    binding->space = SPACE_LOCAL;
    binding->in_frame = true;
    binding->offset = offset;
    binding->variable = value;
}

static int decode_routine(struct decoder *decoder, int index) {
    struct routine *routine = &decoder->kernel->routines[index];
    const struct function *function = ast_find_function(decoder->ast, routine->name);
    struct instruction end = {
        .execute = execute_return, .float_mode = FLOAT_ANY, .as.call.caller = index};
    decoder->routine = index;
    decoder->frame_bytes = routine->frame_bytes;
    decoder->instance = ++decoder->instance_count;
    decoder->in_function = false;
    decoder->depth = 1;
    decoder->inlining[0] = function;
    routine->entry = (uint32_t)decoder->code_count;
    open_scope(decoder, -1);
    for (int i = 0; i < routine->value_count; i++)
        bind_frame_variable(decoder,
                            i < routine->result_count
                                ? &function->results[i]
                                : &function->parameters[i - routine->result_count],
                            routine->values[i].offset);
    if (decode_statements(decoder, function) < 0 || resolve_jumps(decoder, 0) < 0)
        return -1;
    close_scope(decoder, -1);
    decoder->statement = NULL;
    emit_instruction(decoder, &end, NULL, 0);
    /* Never empty, so that infinite recursion overflows the stack. */
    decoder->kernel->routines[index].frame_bytes = (uint32_t)(decoder->frame_bytes + 31) / 16 * 16;
    return 0;
}

int decode_routines(struct decoder *decoder) {
    for (int i = 0; i < decoder->kernel->routine_count; i++)
        if (decode_routine(decoder, i) < 0)
            return -1;
    return 0;
}

static bool is_being_inlined(const struct decoder *decoder, const struct function *function) {
    for (int i = 0; i < decoder->depth; i++)
        if (decoder->inlining[i] == function)
            return true;
    return false;
}

int inline_call(struct decoder *decoder) {
    const struct statement *statement = decoder->statement;
    const struct operand *results = call_operand_list(statement, 0);
    int at = results ? 1 : 0;
    if (at >= statement->operand_count || statement->operands[at].kind != OPERAND_NAME)
        return decode_fail(decoder, "the call has no target");
    int name = statement->operands[at].name;
    const struct operand *parameters = call_operand_list(statement, at + 1);
    const struct function *function = ast_find_function(decoder->ast, name);
    if (!function)
        return emit_indirect_call(decoder, &statement->operands[at], results, parameters);
    if (!function->is_defined && slice_is(decoder->ast->names[name].slice, "vprintf"))
        return emit_printf(decoder, results, parameters);
    if (!function->is_defined)
        return emit_undefined_call(decoder, decoder->ast->names[name].slice);
    if (decoder->depth == CALL_DEPTH_MAX || is_being_inlined(decoder, function))
        return emit_recursive_call(decoder, function, results, parameters);

    /* Lanes that the guard disables jump over the inlined body. */
    int skip = -1;
    if (statement->guard >= 0) {
        struct instruction jump = new_instruction(execute_branch);
        skip = decoder->code_count;
        emit_instruction(decoder, &jump, NULL, 0);
        decoder->code[skip].guard_negated = !statement->guard_negated;
    }
    int caller = decoder->instance, scope = decoder->scope, first_jump = decoder->jump_count;
    int first_return = decoder->return_count;
    bool was_in_function = decoder->in_function;
    decoder->instance = ++decoder->instance_count;
    decoder->in_function = true;
    decoder->inlining[decoder->depth++] = function;
    open_scope(decoder, -1);
    if (bind_parameters(decoder, results, function->results, function->result_count, caller) < 0 ||
        bind_parameters(decoder, parameters, function->parameters, function->parameter_count,
                        caller) < 0 ||
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
