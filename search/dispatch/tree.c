/* A tree as data. */
#include "dispatch/tree.h"

#include <stdlib.h>

void tree_release(struct tree *tree) {
    free(tree->nodes);
    *tree = (struct tree){0};
}

/* ---- evaluation ---- */

static int64_t product(int64_t left, int64_t right) {
    int64_t result;
    if (__builtin_mul_overflow(left, right, &result))
        return (left < 0) != (right < 0) ? INT64_MIN : INT64_MAX;
    return result;
}

int tree_leaf(const struct tree *tree, const int64_t *inputs) {
    int index = 0;
    while (tree->nodes[index].feature.factor_count > 0) {
        const struct tree_node *node = &tree->nodes[index];
        int64_t value = inputs[node->feature.factors[0]];
        for (int i = 1; i < node->feature.factor_count; i++)
            value = product(value, inputs[node->feature.factors[i]]);
        index = value <= node->at_most ? node->then : node->otherwise;
    }
    return index;
}

const unsigned char *tree_order(const struct tree *tree, const int64_t *inputs) {
    return tree->nodes[tree_leaf(tree, inputs)].order;
}

int tree_choose(const struct tree *tree, const int64_t *inputs, const struct kernel_times *times,
                int case_index) {
    const unsigned char *order = tree_order(tree, inputs);
    for (int i = 0; i < tree->kernel_count; i++)
        if (kernel_times_fits(times, case_index, order[i]))
            return order[i];
    return -1;
}

/* ---- its size ---- */

int tree_leaf_count(const struct tree *tree) {
    int count = 0;
    for (int i = 0; i < tree->node_count; i++)
        count += tree->nodes[i].feature.factor_count == 0;
    return count;
}

static int depth_of(const struct tree *tree, int index) {
    const struct tree_node *node = &tree->nodes[index];
    if (node->feature.factor_count == 0)
        return 0;
    const int then = depth_of(tree, node->then), otherwise = depth_of(tree, node->otherwise);
    return 1 + (then > otherwise ? then : otherwise);
}

int tree_depth(const struct tree *tree) {
    return depth_of(tree, 0);
}
