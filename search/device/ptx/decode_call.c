/* Calls, which are expanded where they stand. */
#include "device/ptx/decode.h"

#include "device/ptx/execute.h"

#include <string.h>

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
        struct binding *binding = bind_name(decoder, formals[i].name, decoder->scope);
        binding->kind = BINDING_VARIABLE;
        binding->space = copy.space;
        binding->address = copy.address;
        binding->variable = copy.variable;
    }
    return 0;
}

/* The local memory of a call's index-th argument or result; -1 if that is no variable. */
static int64_t argument_at(struct decoder *decoder, const struct operand *list, int index) {
    const struct binding *found =
        list && index < list->count && list->elements[index].kind == OPERAND_NAME
            ? lookup(decoder, list->elements[index].name)
            : NULL;
    return found && found->kind == BINDING_VARIABLE && found->space == SPACE_LOCAL
               ? (int64_t)found->address
               : -1;
}

/* printf: vprintf(format, arguments), which returns a number. */
static int call_print(struct decoder *decoder, const struct operand *results,
                      const struct operand *actuals) {
    int64_t format = argument_at(decoder, actuals, 0), arguments = argument_at(decoder, actuals, 1);
    int64_t result = argument_at(decoder, results, 0);
    decoder->kernel->in_order = true;
    struct instruction print = {.execute = execute_print, .float_mode = FLOAT_ANY};
    if (format < 0 || arguments < 0)
        return decode_fail(decoder, "takes a format and arguments");
    print.as.print = (struct print_form){.format = (uint32_t)format,
                                         .arguments = (uint32_t)arguments,
                                         .result = result < 0 ? NO_PC : (uint32_t)result};
    emit(decoder, &print, NULL, 0);
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
    if (!function->is_defined && slice_is(decoder->ast->names[name].slice, "vprintf"))
        return call_print(decoder, results, call_list(statement, at + 1));
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
