/*
 * ast: the abstract syntax tree of a PTX module (PTX ISA, sections 4 to 6 and 11): variables,
 * functions, and each function's body as a flat list of statements. Names are interned as numbers,
 * so that later passes compare and index instead of hashing.
 *
 * Opcodes, modifiers and operand counts are not checked here, but by the decoder (decode.h). Sizes
 * are: every size in the tree is within a limit, so later passes need no overflow checks.
 *
 *     struct ast *ast = ast_parse(text, &error);
 *     const struct function *function = &ast->functions[0];
 *     ast_free(ast);
 *
 * The tree is allocated in one arena and stays valid until ast_free.
 */
#ifndef EVOTILE_PTX_AST_H
#define EVOTILE_PTX_AST_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Fundamental types, in the order of type_table. */
enum type {
    TYPE_NONE,
    TYPE_PRED,
    TYPE_B8,
    TYPE_U8,
    TYPE_S8,
    TYPE_E4M3, /* fp8 */
    TYPE_E5M2,
    TYPE_B16,
    TYPE_U16,
    TYPE_S16,
    TYPE_F16,
    TYPE_BF16,
    TYPE_E4M3X2, /* two fp8 values in 16 bits */
    TYPE_E5M2X2,
    TYPE_B32,
    TYPE_U32,
    TYPE_S32,
    TYPE_F32,
    TYPE_F16X2,
    TYPE_BF16X2,
    TYPE_U16X2,
    TYPE_S16X2,
    TYPE_TF32,
    TYPE_B64,
    TYPE_U64,
    TYPE_S64,
    TYPE_F64,
    TYPE_B128,
    TYPE_COUNT
};

int type_bytes(enum type type); /* 0 for a predicate */
bool type_is_signed(enum type type);
bool type_is_float(enum type type);
/* "f32" -> TYPE_F32; TYPE_NONE if the text names no type. */
enum type type_parse(const char *text, int length);

enum state_space {
    SPACE_REGISTER,
    SPACE_GENERIC,
    SPACE_GLOBAL,
    SPACE_CONST,
    SPACE_SHARED,  /* the block's own */
    SPACE_CLUSTER, /* shared memory of any block of the cluster */
    SPACE_LOCAL,
    SPACE_PARAM
};

struct slice {
    const char *text;
    int length;
};
bool slice_is(struct slice slice, const char *text);

enum operand_kind {
    OPERAND_NAME,    /* %r1, a variable, a label; `bits` is added to a variable's address */
    OPERAND_INTEGER, /* bits */
    OPERAND_FLOAT32, /* bits of an fp32 value */
    OPERAND_FLOAT64,
    OPERAND_VECTOR,  /* {a, b} */
    OPERAND_ADDRESS, /* [name + bits], or [bits] with name -1; elements: the coordinates */
    OPERAND_PAIR,    /* a|b */
    OPERAND_LIST,    /* (a, b) of a call */
    OPERAND_SINK,    /* _ */
};

struct operand {
    enum operand_kind kind;
    bool negated; /* !p */
    int name;     /* -1 if none */
    int count;    /* number of elements */
    uint64_t bits;
    struct operand *elements; /* simple operands: names, numbers, sinks */
};

/* A variable or a register range. */
struct variable {
    enum state_space space;
    enum type type;
    int name;
    int vector;         /* 1, 2 or 4 */
    int register_count; /* of `name<count>`; 0: a single register */
    bool is_extern;     /* .extern .shared x[]: dynamic shared memory */
    unsigned alignment;
    uint64_t bytes;
    int value_count; /* of the initialiser; NAME elements stand for addresses */
    struct operand *values;
};

/* A .loc directive: the source position of an instruction. inlined: index of the location of the
   call site, or -1. */
struct location {
    int file, line, column, inlined;
};

enum statement_kind {
    STATEMENT_INSTRUCTION,
    STATEMENT_LABEL,       /* name */
    STATEMENT_SCOPE_BEGIN, /* { */
    STATEMENT_SCOPE_END,   /* } */
    STATEMENT_VARIABLE,
    STATEMENT_BRANCH_TARGETS, /* name: .branchtargets operands */
};

struct statement {
    enum statement_kind kind;
    bool guard_negated;
    int guard; /* a name, or -1 */
    int name;
    int line; /* of the PTX text */
    int location;
    int operand_count;
    struct slice opcode; /* with all modifiers: ld.global.f32 */
    struct operand *operands;
    struct variable *variable;
    const char *error; /* INSTRUCTION: why its operands could not be parsed, or NULL */
};

struct function {
    int name;
    bool is_entry, is_defined;
    int line;
    int parameter_count, result_count;
    struct variable *parameters, *results;
    unsigned max_block[3], required_block[3], cluster[3]; /* zeros if not given */
    int statement_count;
    struct statement *statements;
};

struct interned_name {
    struct slice slice;
    uint32_t hash;
    int next; /* next in the same hash bucket, or -1 */
};

struct ast {
    char *text; /* a copy: slices point into it */
    struct interned_name *names;
    int name_count;
    struct variable **variables; /* of module scope */
    int variable_count;
    struct function *functions;
    int function_count;
    struct location *locations;
    int location_count;
    struct slice *files; /* indexed by .file number; empty where not given */
    int file_count;
    struct arena *arena;
};

/* Parses a module. Returns NULL and fills `error` if the text is not PTX. */
struct ast *ast_parse(const char *text, struct error *error);
void ast_free(struct ast *ast);
/* Returns the number of a name, or -1 if the module does not contain it. */
int ast_find_name(const struct ast *ast, const char *name);
/* Returns the .func of that name, the definition if the module has one, else a declaration; NULL if
   there is none. */
const struct function *ast_find_function(const struct ast *ast, int name);

#endif
