/*
 * expression_tree: what expression.c builds, expression_print.c prints and survey.c takes
 * apart; for these alone. A tree of nodes in one array, children before their parents. Every
 * operator has at most three operands: min(a, b, c) is min(min(a, b), c).
 */
#ifndef EVOTILE_GENOME_EXPRESSION_TREE_H
#define EVOTILE_GENOME_EXPRESSION_TREE_H

#include "genome/expression.h"

enum op {
    OP_NUMBER,
    OP_SLOT,
    OP_NEGATE,
    OP_NOT,
    OP_OR,
    OP_AND,
    OP_EQUAL,
    OP_NOT_EQUAL,
    OP_LESS_EQUAL,
    OP_GREATER_EQUAL,
    OP_LESS,
    OP_GREATER,
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_REMAINDER,
    OP_CHOOSE, /* a ? b : c */
    OP_MIN,
    OP_MAX,
    OP_CEIL_DIV,
    OP_LOG2,
    OP_COUNT
};

/* How an operator is written. */
struct spelling {
    const char *text; /* NULL for what has no text of its own */
    int level;        /* how tightly a binary operator binds; 0 for others */
    bool function;
};

extern const struct spelling spellings[OP_COUNT];

struct node {
    uint8_t op;      /* enum op */
    uint8_t depth;   /* of the tree below, itself included */
    uint16_t column; /* in the text, from 1 */
    int16_t operands[3];
    int64_t number; /* or the slot */
};

struct expression {
    char *text;
    struct slots reads;
    int root;
    struct node nodes[];
};

/* Why a subtree has no value, and where. */
struct fault {
    const char *what;
    int column;
};

/* The value of the subtree at `node`; false, with the fault, if it has none, or if it needs a slot
   that is not `known` (NULL: all are). */
bool expression_value(const struct expression *expression, int node, const struct slots *known,
                      const int64_t *values, int64_t *result, struct fault *fault);

#endif
