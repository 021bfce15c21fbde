/*
 * parse: what parse.c (modules, variables, functions) and parse_body.c (statements) share. Others
 * use ast.h.
 *
 * The functions return -1 (or false) with parser->error filled, which says the line of the PTX
 * text.
 */
#ifndef EVOTILE_DEVICE_PTX_PARSE_H
#define EVOTILE_DEVICE_PTX_PARSE_H

#include "device/ptx/ast.h"
#include "device/ptx/lexer.h"

enum {
    NAME_BUCKETS = 4096,
    OPERANDS_MAX = 128,          /* of a statement, a vector or a call */
    NESTING_MAX = 64,            /* of braces */
    REGISTERS_MAX = 1 << 24,     /* of one .reg */
    ALIGNMENT_MAX = 4096,        /* bytes */
    MODULE_BYTES_MAX = 64 << 20, /* of a .global or .const variable */
    SMEM_BYTES_MAX = 232448,     /* a block's most on any device: sm_90 */
    LOCAL_BYTES_MAX = 128 << 10, /* a thread; the hardware allows 512 KB, no kernel wants that */
    PARAMETER_BYTES_MAX = 32764, /* PTX ISA 7.1 */
};

struct parser {
    struct lexer lexer;
    struct ast *ast;
    struct error *error;
    int buckets[NAME_BUCKETS];
    int name_capacity, variable_capacity, function_capacity, location_capacity, file_capacity;
    /* Of the function that is being read, before they move to the arena. */
    struct statement *statements;
    int statement_count, statement_capacity;
    int location; /* that .loc gave last, or -1 */
};

int parse_fail(struct parser *parser, const char *expected);
bool token_is(const struct parser *parser, const char *text);
/* Steps over the token if it is `text`. */
bool accept_token(struct parser *parser, const char *text);
int expect(struct parser *parser, const char *text);
int expect_integer(struct parser *parser, uint64_t maximum, uint64_t *value);
/* The number of the name in the current token, which is stepped over; -1 if it is no word. */
int expect_name(struct parser *parser);
int intern(struct parser *parser, struct slice slice);

/* A number, with its sign, or a name with an offset. */
int parse_simple(struct parser *parser, struct operand *operand);
/* The space that a directive (.shared) names, or -1. */
int parse_space(struct slice word);
/* `.align 4 .b8 name[16] = {...}` and what follows its commas, from the token after the space.
   Calls `add` for each. */
int parse_variables(struct parser *parser, enum space space, bool is_extern,
                    int (*add)(struct parser *parser, const struct variable *variable));
/* Directives that may stand among statements as well as outside functions: .loc, .file, .pragma,
   .section. 1 if there was one, 0 if not, -1 on errors. */
int parse_neutral(struct parser *parser);
/* From the brace that opens a function's body to the one that closes it. */
int parse_body(struct parser *parser, struct function *function);
/* `(.param .b32 a, ...)`; `*count` variables in the arena. */
int parse_parameters(struct parser *parser, struct variable **variables, int *count);

#endif
