/*
 * parse: functions shared by parse_module.c (module scope), parse.c (variables, common parts) and
 * parse_body.c (statements). Other code uses ast.h.
 *
 * On failure the functions return -1 (or false) and fill parser->error, which names the line of the
 * PTX text.
 */
#ifndef EVOTILE_PTX_PARSE_H
#define EVOTILE_PTX_PARSE_H

#include "ptx/ast.h"
#include "ptx/lexer.h"

enum {
    NAME_BUCKETS = 4096,
    OPERANDS_MAX = 128,          /* of a statement, a vector or a call */
    NESTING_MAX = 64,            /* of braces */
    REGISTERS_MAX = 1 << 24,     /* of one .reg */
    ALIGNMENT_MAX = 4096,        /* bytes */
    MODULE_BYTES_MAX = 64 << 20, /* of a .global or .const variable */
    SMEM_BYTES_MAX = 232448,     /* the largest limit per block of any device: sm_90 */
    LOCAL_BYTES_MAX = 128 << 10, /* per thread; the hardware allows 512 KB */
    PARAMETER_BYTES_MAX = 32764, /* PTX ISA 7.1 */
};

struct parser {
    struct lexer lexer;
    struct ast *ast;
    struct error *error;
    int buckets[NAME_BUCKETS];
    /* The function being parsed; its statements move to the arena at its end. */
    struct statement *statements;
    int statement_count;
    int location; /* of the last .loc, or -1 */
};

int parse_fail(struct parser *parser, const char *expected);
bool token_is(const struct parser *parser, const char *text);
/* Consumes the token if it is `text`. */
bool accept_token(struct parser *parser, const char *text);
int expect_token(struct parser *parser, const char *text);
int expect_integer(struct parser *parser, uint64_t maximum, uint64_t *value);
/* Consumes a name and returns its number; -1 if the token is no word. */
int expect_identifier(struct parser *parser);
int intern_name(struct parser *parser, struct slice slice);

/* Parses a signed number, or a name with an offset. */
int parse_primary_operand(struct parser *parser, struct operand *operand);
/* Returns the state space that a directive (.shared) names, or -1. */
int parse_space(struct slice word);
/* Parses a declaration such as `.align 4 .b8 name[16] = {...}, ...;` from the token after the state
   space; calls `add` for each variable. */
int parse_variables(struct parser *parser, enum state_space space, bool is_extern,
                    int (*add)(struct parser *parser, const struct variable *variable));
/* Parses .loc, .file, .pragma and .section, which may occur inside and outside functions. Returns 1
   if there was one, 0 if not, -1 on errors. */
int parse_common_directive(struct parser *parser);
/* Parses a function body from its opening to its closing brace. */
int parse_body(struct parser *parser, struct function *function);
/* Parses `(.param .b32 a, ...)` after the opening bracket; `*count` variables in the arena. */
int parse_parameters(struct parser *parser, struct variable **variables, int *count);

#endif
