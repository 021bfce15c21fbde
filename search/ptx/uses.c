#include "ptx/uses.h"

#include "base/memory.h"
#include "base/strbuf.h"
#include "ptx/ast.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Names that start with one of these, and perhaps go on with a digit or an underscore. */
static const char *const special_registers[] = {
    "%clock",  "%globaltimer", "%gridid", "%smid", "%nsmid",
    "%warpid", "%nwarpid",     "%envreg", "%pm",   "%current_graph_exec"};

/* VARIABLES_SHOWN: of a module; more are "more variables". PASSES_MAX: more than the chains of
   copies in compiled code need; beyond it every variable counts as written. */
enum { WORD_MAX = 48, VARIABLES_SHOWN = 4, PASSES_MAX = 16 };

/* What the value of a name may be made of: NOTHING, a variable's address (its index + 1), or
   ANY_ADDRESS, of several variables. */
enum { NOTHING = 0, ANY_ADDRESS = -1 };

struct flow {
    const struct ast *ast;
    const struct function *function;
    int *address;      /* by name */
    bool *is_variable; /* by name: a .global variable of the module */
    bool *written;     /* by variable; the last for ANY_ADDRESS */
    bool changed;
};

/* ---- the list ---- */

static bool lists(const char *uses, const char *word) {
    size_t length = strlen(word);
    for (const char *at = uses; (at = strstr(at, word)) != NULL; at += length)
        if ((at == uses || (at >= uses + 2 && at[-2] == ',')) &&
            (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}

static void add_word(char *uses, size_t size, const char *word) {
    static const char cut[] = ", ...";
    size_t length = strlen(uses);
    if (lists(uses, word) || lists(uses, cut + 2))
        return;
    bool fits = length + strlen(word) + sizeof ", " + sizeof cut <= size;
    text_append(uses, size, "%s%s", length > 0 ? ", " : "", fits ? word : cut + 2);
}

static void add_name(char *uses, size_t size, const char *kind, struct slice name) {
    char word[2 * WORD_MAX];
    int length = name.length < WORD_MAX ? name.length : WORD_MAX;
    snprintf(word, sizeof word, "%s%.*s", kind, length, name.text);
    add_word(uses, size, word);
}

static bool is_listed_register(struct slice name) {
    for (size_t i = 0; i < sizeof special_registers / sizeof *special_registers; i++) {
        int length = (int)strlen(special_registers[i]);
        if (name.length >= length && memcmp(name.text, special_registers[i], (size_t)length) == 0 &&
            (name.length == length || isdigit((unsigned char)name.text[length]) ||
             name.text[length] == '_'))
            return true;
    }
    return false;
}

/* The function that a call names, if the module does not define it. */
static const struct function *find_undefined_callee(const struct ast *ast,
                                                    const struct statement *statement) {
    const struct function *callee = NULL;
    for (int i = 0; i < statement->operand_count && callee == NULL; i++)
        if (statement->operands[i].kind == OPERAND_NAME)
            callee = ast_find_function(ast, statement->operands[i].name);
    return callee != NULL && !callee->is_defined ? callee : NULL;
}

static bool only_reads(struct slice function) {
    return slice_is(function, "vprintf") || slice_is(function, "__assertfail");
}

/* ---- the flow of addresses ---- */

static int merge(int a, int b) {
    return a == NOTHING || a == b ? b : b == NOTHING ? a : ANY_ADDRESS;
}

/* The addresses that an operand is made of. */
static int address_of(const struct flow *flow, const struct operand *operand) {
    int found = operand->name >= 0 ? flow->address[operand->name] : NOTHING;
    for (int i = 0; i < operand->count; i++)
        found = merge(found, address_of(flow, &operand->elements[i]));
    return found;
}

static int address_of_all(const struct flow *flow, const struct statement *statement, int first) {
    int found = NOTHING;
    for (int i = first; i < statement->operand_count; i++)
        found = merge(found, address_of(flow, &statement->operands[i]));
    return found;
}

static void mark_written(struct flow *flow, int address) {
    if (address != NOTHING)
        flow->written[address == ANY_ADDRESS ? flow->ast->variable_count : address - 1] = true;
}

static void give(struct flow *flow, const struct operand *operand, int address) {
    if (operand->name >= 0 && flow->is_variable[operand->name]) {
        mark_written(flow, address); /* a register that has a variable's name */
    } else if (operand->name >= 0) {
        int *at = &flow->address[operand->name];
        int merged = merge(*at, address);
        flow->changed = flow->changed || merged != *at;
        *at = merged;
    }
    for (int i = 0; i < operand->count; i++)
        give(flow, &operand->elements[i], address);
}

static void clear(struct flow *flow, const struct operand *operand) {
    if (operand->name >= 0 && !flow->is_variable[operand->name])
        flow->address[operand->name] = NOTHING;
    for (int i = 0; i < operand->count; i++)
        clear(flow, &operand->elements[i]);
}

/* Parameters hold their values for one call: their names return in others. */
static void follow_call(struct flow *flow, const struct statement *statement) {
    int address = address_of_all(flow, statement, 0);
    const struct function *callee =
        address != NOTHING ? find_undefined_callee(flow->ast, statement) : NULL;
    if (callee == NULL || !only_reads(flow->ast->names[callee->name].slice))
        mark_written(flow, address);
    for (int i = 0; i < statement->operand_count; i++)
        if (statement->operands[i].kind == OPERAND_LIST)
            clear(flow, &statement->operands[i]);
}

static bool opcode_is(const struct statement *statement, const char *base) {
    int length = (int)strlen(base);
    return statement->opcode.length >= length &&
           memcmp(statement->opcode.text, base, (size_t)length) == 0 &&
           (statement->opcode.length == length || statement->opcode.text[length] == '.');
}

static bool is_result(const struct function *function, const struct operand *operand) {
    for (int i = 0; i < function->result_count; i++)
        if (function->results[i].name == operand->name)
            return true;
    return false;
}

static void follow(struct flow *flow, const struct statement *statement) {
    const struct operand *first = statement->operands;
    if (statement->operand_count == 0 || opcode_is(statement, "ld") ||
        opcode_is(statement, "ldu") || opcode_is(statement, "prefetch") ||
        opcode_is(statement, "setp"))
        return;
    if (opcode_is(statement, "call")) {
        follow_call(flow, statement);
    } else if (opcode_is(statement, "st.param") && !is_result(flow->function, first)) {
        bool changed = flow->changed; /* the call that takes the parameter follows */
        give(flow, first, address_of_all(flow, statement, 1));
        flow->changed = changed;
    } else if (first->kind == OPERAND_ADDRESS) {
        mark_written(flow, address_of_all(flow, statement, 0));
    } else {
        for (int i = 1; i < statement->operand_count; i++)
            if (statement->operands[i].kind == OPERAND_ADDRESS) /* an atomic */
                mark_written(flow, address_of(flow, &statement->operands[i]));
        give(flow, first, address_of_all(flow, statement, 1));
    }
}

static void follow_function(struct flow *flow, const struct function *function) {
    flow->function = function;
    for (int s = 0; s < function->statement_count; s++)
        for (int i = 0; i < function->statements[s].operand_count; i++)
            clear(flow, &function->statements[s].operands[i]);
    flow->changed = true;
    for (int pass = 0; pass < PASSES_MAX && flow->changed; pass++) {
        flow->changed = false;
        for (int s = 0; s < function->statement_count; s++)
            if (function->statements[s].kind == STATEMENT_INSTRUCTION)
                follow(flow, &function->statements[s]);
    }
    if (flow->changed)
        mark_written(flow, ANY_ADDRESS);
}

static bool is_tracked(const struct variable *variable) {
    return variable->space == SPACE_GLOBAL && variable->name >= 0;
}

static void add_variable(const struct ast *ast, const struct variable *variable, int *shown,
                         char *uses, size_t size) {
    if ((*shown)++ < VARIABLES_SHOWN)
        add_name(uses, size, "variable ", ast->names[variable->name].slice);
    else
        add_word(uses, size, "more variables");
}

static void list_variables(const struct ast *ast, char *uses, size_t size) {
    struct flow flow = {.ast = ast};
    size_t names = (size_t)ast->name_count + 1;
    flow.address = xcalloc(names, sizeof *flow.address);
    flow.is_variable = xcalloc(names, sizeof *flow.is_variable);
    flow.written = xcalloc((size_t)ast->variable_count + 1, sizeof *flow.written);
    for (int v = 0; v < ast->variable_count; v++)
        if (is_tracked(ast->variables[v])) {
            flow.address[ast->variables[v]->name] = v + 1;
            flow.is_variable[ast->variables[v]->name] = true;
        }
    for (int v = 0; v < ast->variable_count; v++) /* an address in another's initial value */
        for (int i = 0; i < ast->variables[v]->value_count; i++)
            mark_written(&flow, address_of(&flow, &ast->variables[v]->values[i]));
    for (int f = 0; f < ast->function_count; f++)
        follow_function(&flow, &ast->functions[f]);
    int shown = 0;
    for (int v = 0; v < ast->variable_count; v++)
        if (is_tracked(ast->variables[v]) && (flow.written[v] || flow.written[ast->variable_count]))
            add_variable(ast, ast->variables[v], &shown, uses, size);
    for (int f = 0; f < ast->function_count; f++) /* ptxas takes them inside of functions, too */
        for (int s = 0; s < ast->functions[f].statement_count; s++) {
            const struct statement *statement = &ast->functions[f].statements[s];
            if (statement->kind == STATEMENT_VARIABLE && is_tracked(statement->variable))
                add_variable(ast, statement->variable, &shown, uses, size);
        }
    free(flow.address);
    free(flow.is_variable);
    free(flow.written);
}

/* ---- the module ---- */

static void list_calls(const struct ast *ast, char *uses, size_t size) {
    for (int f = 0; f < ast->function_count; f++)
        for (int s = 0; s < ast->functions[f].statement_count; s++) {
            const struct statement *statement = &ast->functions[f].statements[s];
            if (statement->kind != STATEMENT_INSTRUCTION || !opcode_is(statement, "call"))
                continue;
            const struct function *callee = find_undefined_callee(ast, statement);
            if (callee != NULL && !slice_is(ast->names[callee->name].slice, "__assertfail"))
                add_name(uses, size, "", ast->names[callee->name].slice);
        }
}

void ptx_list_uses(const char *text, char *uses, size_t size) {
    struct error error = {0};
    struct ast *ast = ast_parse(text, &error);
    if (ast == NULL) {
        add_word(uses, size, "unreadable PTX");
        return;
    }
    for (int n = 0; n < ast->name_count; n++)
        if (is_listed_register(ast->names[n].slice)) {
            struct slice name = ast->names[n].slice;
            add_name(uses, size, "", (struct slice){name.text + 1, name.length - 1});
        }
    list_calls(ast, uses, size);
    list_variables(ast, uses, size);
    ast_free(ast);
}
