/*
 * expression_tree: the syntax tree that expression.c builds, expression_print.c prints, mdd_build.c
 * analyses and wisdom/assembler.c compiles; private to these files. The nodes are in one array,
 * children before their parents. Every operator has at most three operands: min(a, b, c) is
 * min(min(a, b), c).
 *
 *     struct fault fault;
 *     if (!expression_value(expression, expression->root, NULL, values, &value, &fault))
 *         printf("%s at column %d\n", fault.what, fault.column);
 */
#ifndef EVOTILE_SPACE_EXPRESSION_TREE_H
#define EVOTILE_SPACE_EXPRESSION_TREE_H

#include "space/expression.h"

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

/* The spelling of an operator. */
struct operator_spelling {
    const char *text; /* NULL for nodes without an operator */
    int level;        /* precedence of a binary operator; 0 for others */
    bool function;
};

extern const struct operator_spelling spellings[OP_COUNT];

struct expression_node {
    uint8_t op;      /* enum op */
    uint8_t depth;   /* depth of the subtree, itself included */
    uint16_t column; /* in the text, from 1 */
    int16_t operands[3];
    int64_t number; /* a constant, or the number of a slot */
};

struct expression {
    char *text;
    struct slots reads;
    int root;
    struct expression_node nodes[];
};

/* Why and where a subtree cannot be evaluated. */
struct fault {
    const char *what;
    int column;
};

/* Evaluates the subtree at `node`. Returns false, with the fault, if it has no value or needs a
   slot that is not `known` (NULL: all are). */
bool expression_value(const struct expression *expression, int node, const struct slots *known,
                      const int64_t *values, int64_t *result, struct fault *fault);

#endif
