#include "dispatch/forest.h"

#include "base/memory.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Chosen by cross-validation (docs/measurements/dispatch.md). */
enum { TREES = 64, LEAF_CASES = 2, DEPTH = 12 };
/* Above it a kernel is not worth telling apart from a slower one. */
static const double loss_max = 1;

struct forest_node {
    int feature; /* -1: a leaf */
    int64_t at_most;
    int then, otherwise;
};

struct grown_tree {
    int node_count;
    struct forest_node *nodes;
    double *means; /* [node][kernel]: of the losses of a leaf's cases */
};

struct forest {
    int kernel_count, input_count, feature_count;
    struct tree_feature *features;
    struct grown_tree trees[TREES];
};

/* A case's value of a feature. */
struct valued_case {
    int64_t value;
    int index;
};

/* What the trees are grown on. */
struct growth {
    struct forest *forest;
    int64_t *feature_values; /* [case][feature] */
    double *losses;          /* [case][kernel]; 2 * loss_max: the kernel does not fit */
    double *sums;            /* [kernel], of a node's cases */
    double *below;           /* [kernel], of those below a split */
    struct valued_case *sorted;
};

struct forest_split {
    int feature; /* -1: none */
    int64_t at_most;
    double gain;
};

/* ---- growing ---- */

static const double *losses_of(const struct growth *growth, int case_index) {
    return growth->losses + (size_t)case_index * (size_t)growth->forest->kernel_count;
}

static int64_t value_at(const struct growth *growth, int case_index, int feature) {
    return growth->feature_values[(size_t)case_index * (size_t)growth->forest->feature_count +
                                  (size_t)feature];
}

static void add_losses(const struct growth *growth, int case_index, double *sums) {
    for (int k = 0; k < growth->forest->kernel_count; k++)
        sums[k] += losses_of(growth, case_index)[k];
}

static int compare_cases(const void *left, const void *right) {
    const struct valued_case *a = left, *b = right;
    return a->value != b->value ? (a->value > b->value) - (a->value < b->value)
                                : a->index - b->index;
}

/* By how much the split lowers the sum of squares about the means, but for a constant: the larger,
   the better. */
static double gain_of(const struct growth *growth, int below_count, int count) {
    double gain = 0;
    for (int k = 0; k < growth->forest->kernel_count; k++) {
        const double below = growth->below[k], above = growth->sums[k] - below;
        gain += below * below / below_count + above * above / (count - below_count);
    }
    return gain;
}

/* From `below` to less than `above`, whose distance may be more than an int64_t holds. */
static int64_t between(int64_t below, int64_t above) {
    return (int64_t)((uint64_t)below + ((uint64_t)above - (uint64_t)below - 1) / 2);
}

static void try_feature(const struct growth *growth, int feature, const int *cases, int count,
                        struct forest_split *best) {
    for (int i = 0; i < count; i++)
        growth->sorted[i] = (struct valued_case){value_at(growth, cases[i], feature), cases[i]};
    qsort(growth->sorted, (size_t)count, sizeof *growth->sorted, compare_cases);
    memset(growth->below, 0, (size_t)growth->forest->kernel_count * sizeof *growth->below);
    for (int i = 0; i + LEAF_CASES < count; i++) {
        const int64_t value = growth->sorted[i].value, next = growth->sorted[i + 1].value;
        add_losses(growth, growth->sorted[i].index, growth->below);
        if (i + 1 < LEAF_CASES || value == next)
            continue;
        const double gain = gain_of(growth, i + 1, count);
        if (best->feature < 0 || gain > best->gain)
            *best = (struct forest_split){feature, between(value, next), gain};
    }
}

static struct forest_split find_split(const struct growth *growth, const int *cases, int count) {
    struct forest_split best = {.feature = -1};
    for (int f = 0; f < growth->forest->feature_count; f++)
        try_feature(growth, f, cases, count, &best);
    return best;
}

static int add_node(struct grown_tree *tree, int kernel_count) {
    const size_t row = (size_t)kernel_count * sizeof *tree->means;
    tree->nodes = xgrow(tree->nodes, (size_t)tree->node_count, sizeof *tree->nodes);
    tree->means = xgrow(tree->means, (size_t)tree->node_count, row);
    tree->nodes[tree->node_count] = (struct forest_node){.feature = -1};
    return tree->node_count++;
}

/* Puts the cases with at most that value first; returns their number. */
static int divide(const struct growth *growth, const struct forest_split *split, int *cases,
                  int count) {
    int first = 0;
    for (int i = 0; i < count; i++)
        if (value_at(growth, cases[i], split->feature) <= split->at_most) {
            const int one = cases[i];
            cases[i] = cases[first];
            cases[first++] = one;
        }
    return first;
}

static int grow_node(struct growth *growth, struct grown_tree *tree, int *cases, int count,
                     int depth) {
    const int kernels = growth->forest->kernel_count, index = add_node(tree, kernels);
    double *means = tree->means + (size_t)index * (size_t)kernels;
    memset(growth->sums, 0, (size_t)kernels * sizeof *growth->sums);
    for (int i = 0; i < count; i++)
        add_losses(growth, cases[i], growth->sums);
    for (int k = 0; k < kernels; k++)
        means[k] = growth->sums[k] / count;
    const struct forest_split split = depth > 0 && count >= 2 * LEAF_CASES
                                          ? find_split(growth, cases, count)
                                          : (struct forest_split){.feature = -1};
    if (split.feature < 0)
        return index;
    const int first = divide(growth, &split, cases, count);
    const int then = grow_node(growth, tree, cases, first, depth - 1);
    const int otherwise = grow_node(growth, tree, cases + first, count - first, depth - 1);
    tree->nodes[index] = (struct forest_node){split.feature, split.at_most, then, otherwise};
    return index;
}

/* Fills `cases` with those that a kernel fits, their losses and their features. */
static int fill_cases(struct growth *growth, const int64_t *values,
                      const struct kernel_times *times, int *cases) {
    const struct forest *forest = growth->forest;
    int count = 0;
    for (int c = 0; c < times->case_count; c++) {
        if (kernel_times_fastest(times, c) >= 0)
            cases[count++] = c;
        for (int k = 0; k < forest->kernel_count; k++)
            growth->losses[c * forest->kernel_count + k] =
                kernel_times_fits(times, c, k)
                    ? fmin(log(kernel_times_ratio(times, c, k)), loss_max)
                    : 2 * loss_max;
        for (int f = 0; f < forest->feature_count; f++)
            growth->feature_values[c * forest->feature_count + f] =
                feature_value(&forest->features[f], values + c * forest->input_count);
    }
    return count;
}

struct forest *forest_fit(const struct tree_inputs *inputs, const int64_t *values,
                          const struct kernel_times *times, uint64_t seed) {
    struct forest *forest = xcalloc(1, sizeof *forest);
    forest->kernel_count = times->kernel_count;
    forest->input_count = inputs->count;
    forest->features = features_list(inputs, &forest->feature_count);
    const size_t cases_room = (size_t)times->case_count + 1;
    const size_t kernels_room = (size_t)forest->kernel_count + 1;
    const size_t features_room = (size_t)forest->feature_count + 1;
    struct growth growth = {.forest = forest,
                            .feature_values =
                                xmalloc(cases_room * features_room * sizeof *growth.feature_values),
                            .losses = xmalloc(cases_room * kernels_room * sizeof *growth.losses),
                            .sums = xmalloc(kernels_room * sizeof *growth.sums),
                            .below = xmalloc(kernels_room * sizeof *growth.below),
                            .sorted = xmalloc(cases_room * sizeof *growth.sorted)};
    int *cases = xmalloc(cases_room * sizeof *cases), *drawn = xmalloc(cases_room * sizeof *drawn);
    const int count = fill_cases(&growth, values, times, cases);
    for (int t = 0; t < TREES && count > 0; t++) {
        struct random random;
        random_seed(&random, seed, (uint64_t)t);
        for (int i = 0; i < count; i++)
            drawn[i] = cases[random_below(&random, (uint64_t)count)];
        grow_node(&growth, &forest->trees[t], drawn, count, DEPTH);
    }
    free(growth.feature_values);
    free(growth.losses);
    free(growth.sums);
    free(growth.below);
    free(growth.sorted);
    free(cases);
    free(drawn);
    if (count > 0)
        return forest;
    forest_free(forest);
    return NULL;
}

void forest_free(struct forest *forest) {
    if (forest == NULL)
        return;
    for (int t = 0; t < TREES; t++) {
        free(forest->trees[t].nodes);
        free(forest->trees[t].means);
    }
    free(forest->features);
    free(forest);
}

/* ---- predicting ---- */

/* The means of the leaf that the values lead to. */
static const double *leaf_means(const struct forest *forest, const struct grown_tree *tree,
                                const int64_t *values) {
    int index = 0;
    while (tree->nodes[index].feature >= 0) {
        const struct forest_node *node = &tree->nodes[index];
        index = feature_value(&forest->features[node->feature], values) <= node->at_most
                    ? node->then
                    : node->otherwise;
    }
    return tree->means + (size_t)index * (size_t)forest->kernel_count;
}

void forest_predict(const struct forest *forest, const int64_t *values, double *ratios) {
    double least = INFINITY;
    for (int k = 0; k < forest->kernel_count; k++)
        ratios[k] = 0;
    for (int t = 0; t < TREES; t++) {
        const double *means = leaf_means(forest, &forest->trees[t], values);
        for (int k = 0; k < forest->kernel_count; k++)
            ratios[k] += means[k] / TREES;
    }
    for (int k = 0; k < forest->kernel_count; k++)
        if (ratios[k] < 1.5 * loss_max)
            least = fmin(least, ratios[k]);
    for (int k = 0; k < forest->kernel_count; k++)
        ratios[k] = ratios[k] < 1.5 * loss_max ? exp(ratios[k] - least) : NAN;
}
