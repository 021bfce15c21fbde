/*
 * tree: a decision tree that names the kernel for a shape. An inner node compares a *feature*, a
 * product of up to three *inputs* (the dimensions of a shape, figures of a device), with a number.
 * A leaf has an order of all kernels: the first is the choice, and the later ones are for shapes
 * that it does not fit.
 *
 *     const char *const names[] = {"S", "B"};
 *     const int64_t maxima[] = {65536, 256};
 *     const struct tree_inputs inputs = {.count = 2, .names = names, .maxima = maxima};
 *     struct tree tree;
 *     tree_fit(&tree, &inputs, values, &times, &(struct tree_limits){.depth = 6, .leaf_cases = 2,
 *                                                                    .within = 0.03});
 *     const unsigned char *order = tree_order(&tree, (int64_t[]){512, 4});
 *     for (int i = 0; i < tree.kernel_count; i++)
 *         if (kernel_times_fits(&times, 0, order[i]))
 *             return order[i];
 *     tree_release(&tree);
 *
 * Fitting is greedy, as CART's (Breiman, Friedman, Olshen, Stone, "Classification and Regression
 * Trees", 1984), with the regret as its loss: a case costs the logarithm of the ratio of the leaf's
 * choice to the fastest kernel; a choice that does not fit a case costs more than any ratio. The
 * same input gives the same tree.
 */
#ifndef EVOTILE_DISPATCH_TREE_H
#define EVOTILE_DISPATCH_TREE_H

#include "base/json.h"
#include "base/strbuf.h"
#include "dispatch/feature.h"
#include "dispatch/kernel_times.h"

#include <stdint.h>

enum { TREE_DEPTH_MAX = 12, TREE_NAME_SIZE = 48 /* of an input, with the final NUL */ };

struct tree_node {
    struct tree_feature feature;
    int64_t at_most;
    int then, otherwise; /* indices of nodes, both larger than the node's own: where the feature is
                            at most that, and where it is more */
    unsigned char order[DISPATCH_KERNELS_MAX]; /* of a leaf: every kernel once */
    int case_count;                            /* of a leaf: that it was fitted to; else 0 */
};

struct tree {
    int input_count, kernel_count;
    char names[TREE_INPUTS_MAX][TREE_NAME_SIZE];
    int node_count; /* the first one is the root */
    struct tree_node *nodes;
};

struct tree_limits {
    int depth;      /* comparisons from the root to a leaf, at most TREE_DEPTH_MAX */
    int leaf_cases; /* a leaf has at least so many cases */
    double within;  /* a node whose choice is within this fraction of the fastest kernel at each of
                       its cases is a leaf */
};

/* `values` are the inputs of each case: [case][input]. Cases that no kernel fits are left out. */
void tree_fit(struct tree *tree, const struct tree_inputs *inputs, const int64_t *values,
              const struct kernel_times *times, const struct tree_limits *limits);
void tree_release(struct tree *tree);

/* The index of the leaf for these inputs, and its order of kernels. A product beyond the range of
   64 bits counts as the end of that range. */
int tree_leaf(const struct tree *tree, const int64_t *inputs);
const unsigned char *tree_order(const struct tree *tree, const int64_t *inputs);
/* The first kernel of the order that fits the case of the times; -1: none does. */
int tree_choose(const struct tree *tree, const int64_t *inputs, const struct kernel_times *times,
                int case_index);

/* Leaves are numbered from 0 in the order of the nodes. */
int tree_leaf_count(const struct tree *tree);
int tree_depth(const struct tree *tree);

/* Appends nested if statements in C that return the number of the leaf, with `prefix` before each
   input ("shape->"), at `indent` spaces; and the leaves' orders, a row "{0, 2, 1}," each. */
void tree_write_c(const struct tree *tree, const char *prefix, int indent, struct strbuf *text);
void tree_write_orders(const struct tree *tree, int indent, struct strbuf *text);

/* {"inputs": ["S", "B"], "kernels": 3, "tree": {"if": "S * B", "at_most": 512, "then": {...},
   "else": {"order": [0, 2, 1], "cases": 4}}} */
cJSON *tree_json(const struct tree *tree);
/* Reads it. Errors are one line with file, line and path. Release the tree only after success. */
int tree_read(struct tree *tree, const struct json *object, struct error *error);

#endif
