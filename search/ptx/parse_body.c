/* Statements and their operands: PTX ISA 4.1, 6.4. */
#include "base/memory.h"
#include "ptx/arena.h"
#include "ptx/parse.h"

#include <string.h>

static struct statement statement_of(const struct parser *parser, enum statement_kind kind) {
    return (struct statement){.kind = kind,
                              .guard = -1,
                              .name = -1,
                              .line = parser->lexer.token.line,
                              .location = parser->location};
}

static struct statement *new_statement(struct parser *parser, enum statement_kind kind) {
    parser->statements =
        xgrow(parser->statements, parser->statement_count, sizeof *parser->statements);
    struct statement *statement = &parser->statements[parser->statement_count++];
    *statement = statement_of(parser, kind);
    return statement;
}

static struct operand *copy_operands(struct parser *parser, const struct operand *operands,
                                     int count) {
    struct operand *copy = arena_alloc(parser->ast->arena, (size_t)count * sizeof *copy);
    memcpy(copy, operands, (size_t)count * sizeof *copy);
    return copy;
}

/* Parses a list, each item with `parse`, up to and including `close`. Returns its length. */
static int parse_list(struct parser *parser, const char *close, const char *fewer,
                      int (*parse)(struct parser *parser, struct operand *operand),
                      struct operand **copy) {
    struct operand operands[OPERANDS_MAX];
    int count = 0;
    while (!accept_token(parser, close)) {
        if (count == OPERANDS_MAX)
            return parse_fail(parser, fewer);
        if ((count && expect_token(parser, ",") < 0) || parse(parser, &operands[count++]) < 0)
            return -1;
    }
    *copy = copy_operands(parser, operands, count);
    return count;
}

static int parse_elements(struct parser *parser, struct operand *operand, const char *close) {
    operand->count =
        parse_list(parser, close, "fewer elements", parse_primary_operand, &operand->elements);
    return operand->count < 0 ? -1 : 0;
}

/* [address], or [tensor map, {coordinates}]. */
static int parse_address(struct parser *parser, struct operand *operand) {
    if (parse_primary_operand(parser, operand) < 0)
        return -1;
    if (operand->kind != OPERAND_NAME && operand->kind != OPERAND_INTEGER)
        return parse_fail(parser, "an address");
    if (accept_token(parser, ",") &&
        (expect_token(parser, "{") < 0 || parse_elements(parser, operand, "}") < 0))
        return -1;
    if (expect_token(parser, "]") < 0)
        return -1;
    operand->kind = OPERAND_ADDRESS;
    return 0;
}

static int parse_operand(struct parser *parser, struct operand *operand) {
    *operand = (struct operand){.name = -1};
    if (accept_token(parser, "[")) {
        return parse_address(parser, operand);
    } else if (accept_token(parser, "{")) {
        operand->kind = OPERAND_VECTOR;
        return parse_elements(parser, operand, "}");
    } else if (accept_token(parser, "(")) {
        operand->kind = OPERAND_LIST;
        return parse_elements(parser, operand, ")");
    }
    bool negated = accept_token(parser, "!");
    if (parse_primary_operand(parser, operand) < 0)
        return -1;
    operand->negated = negated;
    if (accept_token(parser, "|")) {
        struct operand pair[2] = {*operand};
        if (parse_primary_operand(parser, &pair[1]) < 0)
            return -1;
        *operand = (struct operand){.kind = OPERAND_PAIR,
                                    .name = -1,
                                    .count = 2,
                                    .elements = copy_operands(parser, pair, 2)};
    }
    return 0;
}

static int parse_operands(struct parser *parser, struct statement *statement) {
    statement->operand_count =
        parse_list(parser, ";", "fewer operands", parse_operand, &statement->operands);
    return statement->operand_count < 0 ? -1 : 0;
}

/* Skips the rest of a statement whose operands are unknown here: only executing it is an error. */
static int defer_error(struct parser *parser, struct statement *statement) {
    while (!token_is(parser, ";") && !token_is(parser, "}") &&
           parser->lexer.token.kind != TOKEN_END)
        lexer_next(&parser->lexer);
    if (!accept_token(parser, ";"))
        return -1;
    size_t bytes = strlen(parser->error->text) + 1;
    statement->error = memcpy(arena_alloc(parser->ast->arena, bytes), parser->error->text, bytes);
    statement->operand_count = 0;
    *parser->error = (struct error){0};
    return 0;
}

static int parse_instruction(struct parser *parser) {
    struct statement statement = statement_of(parser, STATEMENT_INSTRUCTION);
    if (accept_token(parser, "@")) {
        statement.guard_negated = accept_token(parser, "!");
        statement.guard = expect_identifier(parser);
        if (statement.guard < 0)
            return -1;
    }
    struct slice word = parser->lexer.token.slice;
    if (parser->lexer.token.kind != TOKEN_WORD || word.text[0] == '.' || word.text[0] == '%')
        return parse_fail(parser, "an instruction");
    lexer_next(&parser->lexer);
    statement.opcode = word;
    if (parse_operands(parser, &statement) < 0 && defer_error(parser, &statement) < 0)
        return -1;
    *new_statement(parser, STATEMENT_INSTRUCTION) = statement;
    return 0;
}

static int add_local_variable(struct parser *parser, const struct variable *variable) {
    struct variable *copy = arena_alloc(parser->ast->arena, sizeof *copy);
    *copy = *variable;
    new_statement(parser, STATEMENT_VARIABLE)->variable = copy;
    return 0;
}

/* Skips the prototype of an indirect call, whose operands carry the same information. */
static int skip_prototype(struct parser *parser) {
    while (!token_is(parser, ";") && parser->lexer.token.kind != TOKEN_END)
        lexer_next(&parser->lexer);
    return expect_token(parser, ";");
}

static bool is_label(const struct parser *parser) {
    const char *at = parser->lexer.at;
    return parser->lexer.token.kind == TOKEN_WORD && at[strspn(at, " \t")] == ':';
}

/* Parses `name:` and, for jump tables, the `.branchtargets a, b;` after it. */
static int parse_label(struct parser *parser) {
    int name = intern_name(parser, parser->lexer.token.slice);
    lexer_next(&parser->lexer);
    lexer_next(&parser->lexer);
    if (accept_token(parser, ".callprototype") || accept_token(parser, ".calltargets"))
        return skip_prototype(parser);
    if (!accept_token(parser, ".branchtargets")) {
        new_statement(parser, STATEMENT_LABEL)->name = name;
        return 0;
    }
    struct statement *statement = new_statement(parser, STATEMENT_BRANCH_TARGETS);
    statement->name = name;
    return parse_operands(parser, statement);
}

static int parse_statement(struct parser *parser, int *depth) {
    struct token *token = &parser->lexer.token;
    if (token_is(parser, "{") || token_is(parser, "}")) {
        bool opens = token_is(parser, "{");
        *depth += opens ? 1 : -1;
        if (*depth > NESTING_MAX)
            return parse_fail(parser, "fewer nested braces");
        if (*depth > 0)
            new_statement(parser, opens ? STATEMENT_SCOPE_BEGIN : STATEMENT_SCOPE_END);
        lexer_next(&parser->lexer);
        return 0;
    }
    if (accept_token(parser, ";"))
        return 0;
    if (token->kind == TOKEN_WORD && token->slice.text[0] == '.') {
        int neutral = parse_common_directive(parser);
        if (neutral)
            return neutral < 0 ? -1 : 0;
        int space = parse_space(token->slice);
        if (space < 0)
            return parse_fail(parser, "a known directive");
        lexer_next(&parser->lexer);
        return parse_variables(parser, (enum state_space)space, false, add_local_variable);
    }
    if (is_label(parser))
        return parse_label(parser);
    return parse_instruction(parser);
}

int parse_body(struct parser *parser, struct function *function) {
    if (expect_token(parser, "{") < 0)
        return -1;
    parser->statement_count = 0;
    parser->location = -1;
    for (int depth = 1; depth;)
        if (parse_statement(parser, &depth) < 0)
            return -1;
    size_t bytes = (size_t)parser->statement_count * sizeof *parser->statements;
    function->statements = arena_alloc(parser->ast->arena, bytes);
    if (bytes)
        memcpy(function->statements, parser->statements, bytes);
    function->statement_count = parser->statement_count;
    function->is_defined = true;
    return 0;
}
