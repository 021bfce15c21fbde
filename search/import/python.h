/*
 * python: the expressions of Python that descriptions of tuning spaces have: parsed by recursive
 * descent, and evaluated as Python does.
 *
 *     struct python *python = python_parse("[i for i in range(1, 9) if i % 2 == 0]", &error);
 *     struct python_heap heap = {0};
 *     struct python_value value;
 *     if (python_evaluate(python, &names, &heap, &value, &error) == 0)
 *         count = value.count;
 *     python_heap_clear(&heap);
 *     python_free(python);
 *
 * There are whole numbers of 64 bits, floats, True, False and None, texts, lists (tuples and sets
 * are lists), `or and not in < > <= >= == != + - * / // % **`, chains of comparisons, if-else,
 * indices, comprehensions, and the functions of `python_functions`. Depth, length and the number of
 * steps are bounded; what is beyond is an error, as is a number of more than 64 bits.
 */
#ifndef EVOTILE_IMPORT_PYTHON_H
#define EVOTILE_IMPORT_PYTHON_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PYTHON_TEXT_MAX = 1 << 16,
    PYTHON_DEPTH_MAX = 64,
    PYTHON_LIST_MAX = 1 << 16,
    PYTHON_STEPS_MAX = 1 << 20,
    PYTHON_NAME_SIZE = 64,
};

/* ---- values ---- */

enum python_type { PYTHON_NONE, PYTHON_BOOL, PYTHON_INT, PYTHON_FLOAT, PYTHON_TEXT, PYTHON_LIST };

struct python_value {
    enum python_type type;
    int64_t number; /* of INT and BOOL */
    double real;    /* of FLOAT */
    const char *text;
    const struct python_value *items;
    int count; /* of LIST */
};

static inline bool python_is_integer(const struct python_value *value) {
    return value->type == PYTHON_INT || value->type == PYTHON_BOOL;
}

static inline bool python_is_number(const struct python_value *value) {
    return python_is_integer(value) || value->type == PYTHON_FLOAT;
}

static inline double python_real(const struct python_value *value) {
    return value->type == PYTHON_FLOAT ? value->real : (double)value->number;
}

/* The memory of evaluations; zeros to begin with. */
struct python_heap {
    void **blocks;
    int count;
    int steps;
};
void python_heap_clear(struct python_heap *heap);
void *python_heap_alloc(struct python_heap *heap, size_t bytes);

bool python_is_true(const struct python_value *value);
bool python_equal(const struct python_value *a, const struct python_value *b);
/* A float that is whole and in range, or an INT or BOOL. */
bool python_whole(const struct python_value *value, int64_t *number);

/* ---- trees ---- */

enum python_kind {
    NODE_CONSTANT,
    NODE_NAME,
    NODE_LIST,
    NODE_NEGATE,
    NODE_PLUS,
    NODE_NOT,
    NODE_AND,
    NODE_OR,
    NODE_CHOOSE,  /* the value, the condition, the other value */
    NODE_COMPARE, /* a chain: the operands; each but the first has its operator */
    NODE_ADD,
    NODE_SUBTRACT,
    NODE_MULTIPLY,
    NODE_DIVIDE,       /* of floats */
    NODE_FLOOR_DIVIDE, /* // */
    NODE_REMAINDER,
    NODE_POWER,
    NODE_INDEX,
    NODE_CALL,          /* name, arguments */
    NODE_COMPREHENSION, /* the element, then clauses */
    NODE_FOR,           /* a clause: name, what it runs over */
    NODE_IF,            /* a clause: a condition */
};

enum python_compare {
    COMPARE_LESS,
    COMPARE_LESS_EQUAL,
    COMPARE_GREATER,
    COMPARE_GREATER_EQUAL,
    COMPARE_EQUAL,
    COMPARE_NOT_EQUAL,
    COMPARE_IN,
    COMPARE_NOT_IN,
};

struct python_node {
    enum python_kind kind;
    enum python_compare compare; /* of an operand of NODE_COMPARE: what stands before it */
    struct python_value value;
    char name[PYTHON_NAME_SIZE];
    struct python_node *child, *next; /* the first operand; the next of the same parent */
};

struct python {
    char *text;
    struct python_node *root;
    struct python_heap heap; /* of the nodes */
};

/* An error names the column. */
struct python *python_parse(const char *text, struct error *error);
void python_free(struct python *python);

/* The functions, ended by NULL. */
extern const char *const python_functions[];

/* ---- evaluation ---- */

/* The value of names: a list of scopes, the innermost first. */
struct python_scope {
    const char *name;
    struct python_value value;
    const struct python_scope *outer; /* NULL: the end */
};

int python_evaluate_node(const struct python_node *node, const struct python_scope *scope,
                         struct python_heap *heap, struct python_value *value, struct error *error);
int python_evaluate(const struct python *python, const struct python_scope *scope,
                    struct python_heap *heap, struct python_value *value, struct error *error);

/* Whether a tree reads a name, other than those of its own comprehensions. */
bool python_reads(const struct python_node *node, const char *name);

#endif
