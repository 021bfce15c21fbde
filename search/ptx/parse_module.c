/* Module scope of the parser: directives, variables, functions. */
#include "base/memory.h"
#include "ptx/arena.h"
#include "ptx/parse.h"

#include <stdlib.h>
#include <string.h>

static int add_module_variable(struct parser *parser, const struct variable *variable) {
    struct ast *ast = parser->ast;
    if (variable->space == SPACE_REGISTER || variable->space == SPACE_PARAM ||
        variable->space == SPACE_LOCAL)
        return parse_fail(parser, "a state space that module variables may have");
    struct variable *copy = arena_alloc(ast->arena, sizeof *copy);
    *copy = *variable;
    ast->variables = xgrow(ast->variables, ast->variable_count, sizeof *ast->variables);
    ast->variables[ast->variable_count++] = copy;
    return 0;
}

/* Parses performance-tuning directives (.maxntid 128, 1, 1), up to the body or the semicolon of a
   declaration. */
static int parse_performance_directives(struct parser *parser, struct function *function) {
    while (!token_is(parser, "{") && !token_is(parser, ";")) {
        unsigned ignored[3], *block = ignored;
        if (token_is(parser, ".maxntid"))
            block = function->max_block;
        else if (token_is(parser, ".reqntid"))
            block = function->required_block;
        else if (token_is(parser, ".reqnctapercluster"))
            block = function->cluster;
        else if (token_is(parser, ".blocksareclusters"))
            return parse_fail(parser, "no .blocksareclusters, which is not supported,");
        int neutral = parse_common_directive(parser);
        if (neutral < 0)
            return -1;
        if (neutral)
            continue;
        if (parser->lexer.token.kind != TOKEN_WORD || parser->lexer.token.slice.text[0] != '.')
            return parse_fail(parser, "the body of a function");
        lexer_next(&parser->lexer);
        for (int i = 0; parser->lexer.token.kind == TOKEN_INTEGER; i++) {
            uint64_t value;
            if (i == 3)
                return parse_fail(parser, "fewer numbers");
            if (expect_integer(parser, 1u << 20, &value) < 0)
                return -1;
            block[i] = (unsigned)value;
            accept_token(parser, ",");
        }
        for (int i = 1; i < 3; i++)
            if (block != ignored && block[0] && !block[i])
                block[i] = 1;
    }
    return 0;
}

static int parse_function(struct parser *parser, bool is_entry) {
    struct ast *ast = parser->ast;
    struct function function = {.is_entry = is_entry, .line = parser->lexer.token.line};
    if (!is_entry && accept_token(parser, "(") &&
        parse_parameters(parser, &function.results, &function.result_count) < 0)
        return -1;
    function.name = expect_identifier(parser);
    if (function.name < 0)
        return -1;
    if (accept_token(parser, "(") &&
        parse_parameters(parser, &function.parameters, &function.parameter_count) < 0)
        return -1;
    if (parse_performance_directives(parser, &function) < 0)
        return -1;
    if (!accept_token(parser, ";") && parse_body(parser, &function) < 0)
        return -1;
    ast->functions = xgrow(ast->functions, ast->function_count, sizeof *ast->functions);
    ast->functions[ast->function_count++] = function;
    return 0;
}

static int parse_header(struct parser *parser) {
    lexer_next(&parser->lexer); /* .version 8.0 or .target sm_80, debug: ignored */
    do
        lexer_next(&parser->lexer);
    while (accept_token(parser, ","));
    return 0;
}

static int parse_module_item(struct parser *parser) {
    if (token_is(parser, ".version") || token_is(parser, ".target"))
        return parse_header(parser);
    if (accept_token(parser, ".address_size")) {
        uint64_t bits;
        if (expect_integer(parser, 64, &bits) < 0)
            return -1;
        return bits == 64 ? 0 : parse_fail(parser, "64-bit addresses");
    }
    if (accept_token(parser, ".alias")) { /* another name of a function, which calls do not use */
        while (!token_is(parser, ";") && parser->lexer.token.kind != TOKEN_END)
            lexer_next(&parser->lexer);
        return expect_token(parser, ";");
    }
    int neutral = parse_common_directive(parser);
    if (neutral)
        return neutral < 0 ? -1 : 0;

    bool is_extern = false;
    for (;;) {
        if (accept_token(parser, ".extern"))
            is_extern = true;
        else if (!accept_token(parser, ".visible") && !accept_token(parser, ".weak") &&
                 !accept_token(parser, ".common"))
            break;
    }
    if (accept_token(parser, ".entry"))
        return parse_function(parser, true);
    if (accept_token(parser, ".func"))
        return parse_function(parser, false);
    int space =
        parser->lexer.token.kind == TOKEN_WORD ? parse_space(parser->lexer.token.slice) : -1;
    if (space < 0)
        return parse_fail(parser, "a kernel, a function or a variable");
    lexer_next(&parser->lexer);
    return parse_variables(parser, (enum state_space)space, is_extern, add_module_variable);
}

/* Moves a growable array to the arena, so that arena_free releases everything. */
static void *move_to_arena(struct ast *ast, void *array, int count, size_t size) {
    void *copy = arena_alloc(ast->arena, (size_t)count * size);
    if (count)
        memcpy(copy, array, (size_t)count * size);
    free(array);
    return copy;
}

struct ast *ast_parse(const char *text, struct error *error) {
    struct arena *arena = arena_new();
    struct ast *ast = arena_alloc(arena, sizeof *ast);
    struct parser *parser = arena_alloc(arena, sizeof *parser);
    size_t bytes = strlen(text) + 1;
    ast->arena = arena;
    ast->text = arena_alloc(arena, bytes);
    memcpy(ast->text, text, bytes);
    parser->ast = ast;
    parser->error = error;
    parser->location = -1;
    for (int bucket = 0; bucket < NAME_BUCKETS; bucket++)
        parser->buckets[bucket] = -1;
    lexer_init(&parser->lexer, ast->text);

    int failed = 0;
    if (bytes > INT32_MAX)
        failed = error_set(error, "the PTX is larger than 2 GB");
    while (!failed && parser->lexer.token.kind != TOKEN_END)
        failed = parse_module_item(parser);

    ast->names = move_to_arena(ast, ast->names, ast->name_count, sizeof *ast->names);
    ast->variables =
        move_to_arena(ast, ast->variables, ast->variable_count, sizeof *ast->variables);
    ast->functions =
        move_to_arena(ast, ast->functions, ast->function_count, sizeof *ast->functions);
    ast->locations =
        move_to_arena(ast, ast->locations, ast->location_count, sizeof *ast->locations);
    ast->files = move_to_arena(ast, ast->files, ast->file_count, sizeof *ast->files);
    free(parser->statements);
    if (failed) {
        ast_free(ast);
        return NULL;
    }
    return ast;
}
