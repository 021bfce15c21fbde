/* Common parts of the parser, variables and directives: PTX ISA 5 and 11. */
#include "ptx/parse.h"

#include "base/memory.h"
#include "ptx/arena.h"

#include <stdlib.h>
#include <string.h>

int parse_fail(struct parser *parser, const char *expected) {
    const struct token *token = &parser->lexer.token;
    int length = token->slice.length > 60 ? 60 : token->slice.length;
    if (token->kind == TOKEN_END)
        return error_set(parser->error, "PTX line %d: expected %s, not the end", token->line,
                         expected);
    return error_set(parser->error, "PTX line %d: expected %s near '%.*s'", token->line, expected,
                     length, token->slice.text);
}

bool token_is(const struct parser *parser, const char *text) {
    const struct token *token = &parser->lexer.token;
    return (token->kind == TOKEN_WORD || token->kind == TOKEN_PUNCTUATION) &&
           slice_is(token->slice, text);
}

bool accept_token(struct parser *parser, const char *text) {
    bool is = token_is(parser, text);
    if (is)
        lexer_next(&parser->lexer);
    return is;
}

int expect_token(struct parser *parser, const char *text) {
    if (accept_token(parser, text))
        return 0;
    char quoted[32];
    snprintf(quoted, sizeof quoted, "'%s'", text);
    return parse_fail(parser, quoted);
}

int expect_integer(struct parser *parser, uint64_t maximum, uint64_t *value) {
    const struct token *token = &parser->lexer.token;
    if (token->kind != TOKEN_INTEGER || token->bits > maximum) {
        char text[64];
        snprintf(text, sizeof text, "an integer of at most %llu", (unsigned long long)maximum);
        parse_fail(parser, text);
        return -1;
    }
    *value = token->bits;
    lexer_next(&parser->lexer);
    return 0;
}

int intern_name(struct parser *parser, struct slice slice) {
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (int i = 0; i < slice.length; i++)
        hash = (hash ^ (unsigned char)slice.text[i]) * 16777619u;
    struct ast *ast = parser->ast;
    int *bucket = &parser->buckets[hash % NAME_BUCKETS];
    for (int index = *bucket; index >= 0; index = ast->names[index].next) {
        const struct interned_name *name = &ast->names[index];
        if (name->hash == hash && name->slice.length == slice.length &&
            memcmp(name->slice.text, slice.text, (size_t)slice.length) == 0)
            return index;
    }
    ast->names = xgrow(ast->names, ast->name_count, sizeof *ast->names);
    ast->names[ast->name_count] = (struct interned_name){slice, hash, *bucket};
    return *bucket = ast->name_count++;
}

int expect_identifier(struct parser *parser) {
    if (parser->lexer.token.kind != TOKEN_WORD)
        return parse_fail(parser, "a name");
    int name = intern_name(parser, parser->lexer.token.slice);
    lexer_next(&parser->lexer);
    return name;
}

int parse_primary_operand(struct parser *parser, struct operand *operand) {
    *operand = (struct operand){.name = -1};
    struct token token = parser->lexer.token;
    bool minus = token_is(parser, "-"), invert = token_is(parser, "~");
    if (minus || invert) {
        lexer_next(&parser->lexer);
        token = parser->lexer.token;
    }
    operand->bits = token.bits;
    switch (token.kind) {
    case TOKEN_FLOAT32:
        operand->kind = OPERAND_FLOAT32;
        operand->bits ^= minus ? 1ull << 31 : 0;
        break;
    case TOKEN_FLOAT64:
        operand->kind = OPERAND_FLOAT64;
        operand->bits ^= minus ? 1ull << 63 : 0;
        break;
    case TOKEN_INTEGER:
        operand->kind = OPERAND_INTEGER;
        operand->bits = minus ? -token.bits : invert ? ~token.bits : token.bits;
        break;
    case TOKEN_WORD:
        if (minus || invert)
            return parse_fail(parser, "a number");
        if (slice_is(token.slice, "WARP_SZ")) { /* the only named constant of PTX */
            *operand = (struct operand){.kind = OPERAND_INTEGER, .name = -1, .bits = 32};
            break;
        }
        operand->kind = slice_is(token.slice, "_") ? OPERAND_SINK : OPERAND_NAME;
        operand->name = intern_name(parser, token.slice);
        break;
    default:
        return parse_fail(parser, "an operand");
    }
    lexer_next(&parser->lexer);
    if (operand->kind == OPERAND_NAME && (token_is(parser, "+") || token_is(parser, "-"))) {
        bool subtract = token_is(parser, "-");
        lexer_next(&parser->lexer);
        subtract ^= accept_token(parser, "-");
        if (expect_integer(parser, UINT64_MAX, &operand->bits) < 0)
            return -1;
        operand->bits = subtract ? -operand->bits : operand->bits;
    }
    return 0;
}

int parse_space(struct slice word) {
    static const struct {
        const char *word;
        enum state_space space;
    } spaces[] = {{".reg", SPACE_REGISTER},  {".global", SPACE_GLOBAL}, {".const", SPACE_CONST},
                  {".shared", SPACE_SHARED}, {".local", SPACE_LOCAL},   {".param", SPACE_PARAM}};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (slice_is(word, spaces[i].word))
            return (int)spaces[i].space;
    return -1;
}

static const uint64_t space_bytes_max[] = {
    [SPACE_REGISTER] = 0,
    [SPACE_GENERIC] = 0,
    [SPACE_GLOBAL] = MODULE_BYTES_MAX,
    [SPACE_CONST] = MODULE_BYTES_MAX,
    [SPACE_SHARED] = SMEM_BYTES_MAX,
    [SPACE_LOCAL] = LOCAL_BYTES_MAX,
    [SPACE_PARAM] = PARAMETER_BYTES_MAX,
};

/* Nested braces are ignored, since elements are in order. Values may be names or generic(name);
   masks of a name, 0xff(name), are rejected. */
static int parse_initialiser(struct parser *parser, struct variable *variable) {
    struct operand *values = NULL;
    int count = 0, depth = 0, result = -1;
    do {
        if (accept_token(parser, "{")) {
            if (++depth > NESTING_MAX) {
                parse_fail(parser, "fewer nested braces");
                goto done;
            }
            continue;
        }
        if (depth && accept_token(parser, "}")) {
            depth--;
        } else {
            bool generic = accept_token(parser, "generic");
            values = xgrow(values, count, sizeof *values);
            struct operand *value = &values[count++];
            if ((generic && expect_token(parser, "(") < 0) ||
                parse_primary_operand(parser, value) < 0 ||
                (generic && expect_token(parser, ")") < 0))
                goto done;
            if (generic && accept_token(parser, "+") &&
                expect_integer(parser, UINT64_MAX, &value->bits) < 0)
                goto done;
        }
        if (depth)
            accept_token(parser, ",");
    } while (depth);
    variable->value_count = count;
    variable->values = arena_alloc(parser->ast->arena, (size_t)count * sizeof *values);
    if (count)
        memcpy(variable->values, values, (size_t)count * sizeof *values);
    result = 0;
done:
    free(values);
    return result;
}

/* Parses what precedes the name: .align 4 .v2 .b8, and a parameter's .ptr .global .align 16. */
static int parse_variable_type(struct parser *parser, struct variable *variable) {
    variable->vector = 1;
    unsigned pointer_alignment = 0;
    unsigned *alignment = &variable->alignment;
    while (parser->lexer.token.kind == TOKEN_WORD && parser->lexer.token.slice.text[0] == '.') {
        struct slice word = parser->lexer.token.slice;
        enum type type = type_parse(word.text + 1, word.length - 1);
        lexer_next(&parser->lexer);
        if (slice_is(word, ".align")) {
            uint64_t value;
            if (expect_integer(parser, ALIGNMENT_MAX, &value) < 0)
                return -1;
            if (!value || (value & (value - 1)))
                return parse_fail(parser, "an alignment that is a power of two");
            *alignment = (unsigned)value;
        } else if (slice_is(word, ".ptr")) {
            alignment = &pointer_alignment; /* a later .align is the pointee's */
        } else if (slice_is(word, ".v2")) {
            variable->vector = 2;
        } else if (slice_is(word, ".v4")) {
            variable->vector = 4;
        } else if (slice_is(word, ".attribute")) {
            while (!token_is(parser, ")") && parser->lexer.token.kind != TOKEN_END)
                lexer_next(&parser->lexer);
            if (expect_token(parser, ")") < 0)
                return -1;
        } else if (slice_is(word, ".texref") || slice_is(word, ".samplerref") ||
                   slice_is(word, ".surfref")) {
            variable->type = TYPE_B64; /* a handle */
        } else if (type != TYPE_NONE) {
            variable->type = type;
        } else if (parse_space(word) < 0) {
            return parse_fail(parser, "a known type");
        }
    }
    if (variable->type == TYPE_NONE)
        return parse_fail(parser, "a type");
    if (!variable->alignment)
        variable->alignment = (unsigned)(type_bytes(variable->type) * variable->vector);
    return 0;
}

/* Parses a name and its dimensions, or the range of a register. */
static int parse_declarator(struct parser *parser, struct variable *variable) {
    variable->name = expect_identifier(parser);
    if (variable->name < 0)
        return -1;
    uint64_t maximum = space_bytes_max[variable->space];
    if (variable->space == SPACE_REGISTER) {
        uint64_t count = 0;
        if (accept_token(parser, "<") &&
            (expect_integer(parser, REGISTERS_MAX, &count) < 0 || expect_token(parser, ">") < 0))
            return -1;
        variable->register_count = (int)count;
        return 0;
    }
    if (variable->type == TYPE_PRED)
        return parse_fail(parser, "a .reg declaration, since predicates must be registers");
    variable->bytes = (uint64_t)(type_bytes(variable->type) * variable->vector);
    while (accept_token(parser, "[")) {
        uint64_t length = 0;
        if (!token_is(parser, "]") && expect_integer(parser, maximum, &length) < 0)
            return -1;
        if (expect_token(parser, "]") < 0)
            return -1;
        variable->bytes *= length;
        if (variable->bytes > maximum)
            return parse_fail(parser, "a smaller variable");
    }
    return 0;
}

int parse_variables(struct parser *parser, enum state_space space, bool is_extern,
                    int (*add)(struct parser *parser, const struct variable *variable)) {
    struct variable variable = {.space = space, .is_extern = is_extern};
    if (parse_variable_type(parser, &variable) < 0)
        return -1;
    do {
        variable.value_count = 0;
        if (parse_declarator(parser, &variable) < 0)
            return -1;
        if (accept_token(parser, "=") && parse_initialiser(parser, &variable) < 0)
            return -1;
        if (add(parser, &variable) < 0)
            return -1;
    } while (accept_token(parser, ","));
    return expect_token(parser, ";");
}

int parse_parameters(struct parser *parser, struct variable **variables, int *count) {
    struct variable read[OPERANDS_MAX];
    *count = 0;
    while (!accept_token(parser, ")")) {
        if (*count && expect_token(parser, ",") < 0)
            return -1;
        if (*count == OPERANDS_MAX)
            return parse_fail(parser, "fewer parameters");
        struct variable *variable = &read[(*count)++];
        *variable = (struct variable){.space = SPACE_PARAM};
        if (!accept_token(parser, ".param"))
            return parse_fail(parser, "'.param'");
        if (parse_variable_type(parser, variable) < 0 || parse_declarator(parser, variable) < 0)
            return -1;
    }
    *variables = arena_alloc(parser->ast->arena, (size_t)*count * sizeof **variables);
    if (*count)
        memcpy(*variables, read, (size_t)*count * sizeof **variables);
    return 0;
}

/* .loc 1 5 3, function_name $L__info_string0, inlined_at 1 20 5 */
static int parse_location(struct parser *parser) {
    struct ast *ast = parser->ast;
    struct location location = {.inlined = -1}, call = {.inlined = -1};
    uint64_t file, line, column;
    for (struct location *to = &location; to; to = to == &location ? &call : NULL) {
        if (to == &call) {
            if (!accept_token(parser, ","))
                break;
            if (!accept_token(parser, "function_name") || expect_identifier(parser) < 0)
                return parse_fail(parser, "'function_name NAME'");
            if (accept_token(parser, "+") && expect_integer(parser, UINT64_MAX, &line) < 0)
                return -1;
            if (expect_token(parser, ",") < 0 || expect_token(parser, "inlined_at") < 0)
                return -1;
        }
        if (expect_integer(parser, INT32_MAX, &file) < 0 ||
            expect_integer(parser, INT32_MAX, &line) < 0 ||
            expect_integer(parser, INT32_MAX, &column) < 0)
            return -1;
        to->file = (int)file;
        to->line = (int)line;
        to->column = (int)column;
    }
    if (call.line) {
        /* The call site may be inlined itself: it is then the location of an earlier .loc. */
        int first = ast->location_count > 256 ? ast->location_count - 256 : 0;
        for (int index = ast->location_count - 1; index >= first && location.inlined < 0; index--) {
            const struct location *earlier = &ast->locations[index];
            if (earlier->file == call.file && earlier->line == call.line &&
                earlier->column == call.column)
                location.inlined = index;
        }
        if (location.inlined < 0) {
            ast->locations = xgrow(ast->locations, ast->location_count, sizeof *ast->locations);
            ast->locations[location.inlined = ast->location_count++] = call;
        }
    }
    ast->locations = xgrow(ast->locations, ast->location_count, sizeof *ast->locations);
    ast->locations[parser->location = ast->location_count++] = location;
    return 1;
}

static int parse_file(struct parser *parser) {
    struct ast *ast = parser->ast;
    uint64_t index;
    if (expect_integer(parser, 1 << 16, &index) < 0)
        return -1;
    struct slice name = parser->lexer.token.slice;
    if (parser->lexer.token.kind != TOKEN_STRING)
        return parse_fail(parser, "the name of a file");
    lexer_next(&parser->lexer);
    while ((uint64_t)ast->file_count <= index) {
        ast->files = xgrow(ast->files, ast->file_count, sizeof *ast->files);
        ast->files[ast->file_count++] = (struct slice){"", 0};
    }
    ast->files[index] = (struct slice){name.text + 1, name.length - 2};
    while (accept_token(parser, ",")) /* a time stamp and a size */
        if (expect_integer(parser, UINT64_MAX, &index) < 0)
            return -1;
    return 1;
}

/* Skips debugging data: its braces do not nest. */
static int parse_section(struct parser *parser) {
    while (!accept_token(parser, "}")) {
        if (parser->lexer.token.kind == TOKEN_END)
            return parse_fail(parser, "'}'");
        lexer_next(&parser->lexer);
    }
    return 1;
}

static int parse_pragma(struct parser *parser) {
    while (!accept_token(parser, ";")) {
        if (parser->lexer.token.kind != TOKEN_STRING && !token_is(parser, ","))
            return parse_fail(parser, "a string");
        lexer_next(&parser->lexer);
    }
    return 1;
}

int parse_common_directive(struct parser *parser) {
    static const struct {
        const char *word;
        int (*parse)(struct parser *parser);
    } directives[] = {{".loc", parse_location},
                      {".file", parse_file},
                      {".section", parse_section},
                      {".pragma", parse_pragma}};
    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++)
        if (accept_token(parser, directives[i].word))
            return directives[i].parse(parser);
    return 0;
}
