/* Fits a tree to the times of kernels. */
#include "dispatch/tree.h"

#include "base/error.h"
#include "base/memory.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a choice costs at some cases. One that fits more of them is better, whatever the ratios. */
struct loss {
    int misfits;       /* cases that it does not fit */
    double log_ratios; /* the sum of the others' logarithms of the ratio to the fastest */
};

struct fit {
    struct tree *tree;
    const struct tree_limits *limits;
    int kernel_count, input_count;
    int feature_count;
    struct tree_feature *features;
    const int64_t *values; /* [case][input] */
    struct loss *losses;   /* [case][kernel] */
};

/* A way to divide the cases of a node. */
struct split {
    struct loss loss; /* of the best choice on each side */
    int feature;
    int64_t at_most;
};

/* A case's value of a feature. */
struct valued_case {
    int64_t value;
    int index;
};

static int64_t value_of(const struct fit *fit, int feature, int case_index) {
    return feature_value(&fit->features[feature],
                         fit->values + (size_t)case_index * (size_t)fit->input_count);
}

/* ---- losses ---- */

static struct loss add(struct loss a, struct loss b) {
    return (struct loss){a.misfits + b.misfits, a.log_ratios + b.log_ratios};
}

static struct loss subtract(struct loss a, struct loss b) {
    return (struct loss){a.misfits - b.misfits, a.log_ratios - b.log_ratios};
}

static bool is_less(struct loss a, struct loss b) {
    return a.misfits != b.misfits ? a.misfits < b.misfits : a.log_ratios < b.log_ratios;
}

/* Whether it is less by more than rounding, which depends on the order of a sum. */
static bool is_clearly_less(struct loss a, struct loss b) {
    b.log_ratios -= 1e-9 * (1 + fabs(b.log_ratios));
    return is_less(a, b);
}

static struct loss loss_at(const struct fit *fit, int case_index, int kernel) {
    return fit->losses[case_index * fit->kernel_count + kernel];
}

/* Adds up the losses of each kernel at the cases. */
static void sum_losses(const struct fit *fit, const int *cases, int count, struct loss *sums) {
    memset(sums, 0, (size_t)fit->kernel_count * sizeof *sums);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < fit->kernel_count; k++)
            sums[k] = add(sums[k], loss_at(fit, cases[i], k));
}

/* Orders the kernels by their sums, equal ones by their numbers. */
static void set_order(const struct fit *fit, const struct loss *sums, struct tree_node *node) {
    for (int k = 0; k < fit->kernel_count; k++) {
        int at = k;
        for (; at > 0 && is_less(sums[k], sums[node->order[at - 1]]); at--)
            node->order[at] = node->order[at - 1];
        node->order[at] = (unsigned char)k;
    }
}

/* Whether the kernel is within the limits' fraction of the fastest at every case. */
static bool serves_all(const struct fit *fit, const int *cases, int count, int kernel) {
    for (int i = 0; i < count; i++) {
        const struct loss loss = loss_at(fit, cases[i], kernel);
        if (loss.misfits > 0 || loss.log_ratios > log1p(fit->limits->within))
            return false;
    }
    return true;
}

/* ---- splits ---- */

static int compare_cases(const void *left, const void *right) {
    const struct valued_case *a = left, *b = right;
    return a->value != b->value ? (a->value > b->value) - (a->value < b->value)
                                : a->index - b->index;
}

/* The roundest number, in binary, from `low` to `high`. */
static int64_t roundest(int64_t low, int64_t high) {
    for (int bit = 62; bit > 0; bit--) {
        const int64_t step = INT64_C(1) << bit, number = high / step * step;
        if (number >= low && number > 0)
            return number;
    }
    return low;
}

/* A number from `below` to less than `above`, near the middle of the two on a logarithmic scale. */
static int64_t middle(int64_t below, int64_t above) {
    if (below < 1)
        return below;
    const double centre = sqrt((double)below * (double)above);
    int64_t low = (int64_t)sqrt((double)below * centre);
    int64_t high = (int64_t)sqrt((double)above * centre);
    low = low < below ? below : low > above - 1 ? above - 1 : low;
    high = high < low ? low : high > above - 1 ? above - 1 : high;
    return roundest(low, high);
}

/* Tries every place between two values of the feature. `totals` are the sums over all cases. */
static void try_feature(const struct fit *fit, int feature, const int *cases, int count,
                        const struct loss *totals, struct valued_case *sorted, struct split *best) {
    struct loss sums[DISPATCH_KERNELS_MAX] = {{0}};
    for (int i = 0; i < count; i++)
        sorted[i] = (struct valued_case){value_of(fit, feature, cases[i]), cases[i]};
    qsort(sorted, (size_t)count, sizeof *sorted, compare_cases);
    for (int i = 0; i + 1 < count; i++) {
        struct loss below = {INT_MAX, 0}, above = {INT_MAX, 0};
        for (int k = 0; k < fit->kernel_count; k++) {
            sums[k] = add(sums[k], loss_at(fit, sorted[i].index, k));
            const struct loss rest = subtract(totals[k], sums[k]);
            below = is_less(sums[k], below) ? sums[k] : below;
            above = is_less(rest, above) ? rest : above;
        }
        if (sorted[i].value < sorted[i + 1].value && i + 1 >= fit->limits->leaf_cases &&
            count - i - 1 >= fit->limits->leaf_cases &&
            is_clearly_less(add(below, above), best->loss))
            *best = (struct split){add(below, above), feature,
                                   middle(sorted[i].value, sorted[i + 1].value)};
    }
}

/* The best split of a node whose best choice has that loss; `feature` -1 if none is better. */
static struct split find_split(const struct fit *fit, const int *cases, int count,
                               const struct loss *totals, struct loss unsplit) {
    struct split best = {unsplit, -1, 0};
    struct valued_case *sorted = xmalloc((size_t)count * sizeof *sorted);
    for (int f = 0; f < fit->feature_count; f++)
        try_feature(fit, f, cases, count, totals, sorted, &best);
    free(sorted);
    return best;
}

/* Puts the cases with at most that value first; returns their number. */
static int divide(const struct fit *fit, const struct split *split, int *cases, int count) {
    int *others = xmalloc((size_t)count * sizeof *others), first = 0, other = 0;
    for (int i = 0; i < count; i++)
        if (value_of(fit, split->feature, cases[i]) <= split->at_most)
            cases[first++] = cases[i];
        else
            others[other++] = cases[i];
    memcpy(cases + first, others, (size_t)other * sizeof *others);
    free(others);
    return first;
}

/* ---- nodes ---- */

static int add_node(struct tree *tree) {
    tree->nodes = xgrow(tree->nodes, (size_t)tree->node_count, sizeof *tree->nodes);
    tree->nodes[tree->node_count] = (struct tree_node){0};
    return tree->node_count++;
}

/* Fits the node for the cases, and those below it; returns its index. */
static int fit_node(struct fit *fit, int *cases, int count, int depth) {
    struct loss sums[DISPATCH_KERNELS_MAX];
    const int index = add_node(fit->tree);
    struct split split = {.feature = -1};
    sum_losses(fit, cases, count, sums);
    set_order(fit, sums, &fit->tree->nodes[index]);
    fit->tree->nodes[index].case_count = count;
    const int choice = fit->tree->nodes[index].order[0];
    if (depth > 0 && !serves_all(fit, cases, count, choice))
        split = find_split(fit, cases, count, sums, sums[choice]);
    if (split.feature < 0)
        return index;
    const int first = divide(fit, &split, cases, count);
    const int then = fit_node(fit, cases, first, depth - 1);
    const int otherwise = fit_node(fit, cases + first, count - first, depth - 1);
    fit->tree->nodes[index] = (struct tree_node){.feature = fit->features[split.feature],
                                                 .at_most = split.at_most,
                                                 .then = then,
                                                 .otherwise = otherwise};
    return index;
}

static void check_arguments(const struct tree_inputs *inputs, const struct kernel_times *times,
                            const struct tree_limits *limits) {
    if (times->kernel_count < 1 || times->kernel_count > DISPATCH_KERNELS_MAX)
        BUG("a tree of %d kernels", times->kernel_count);
    if (inputs->count < 0 || inputs->count > TREE_INPUTS_MAX)
        BUG("a tree of %d inputs", inputs->count);
    if (limits->depth < 0 || limits->depth > TREE_DEPTH_MAX || limits->leaf_cases < 1 ||
        !(limits->within >= 0))
        BUG("a tree of depth %d, with %d cases a leaf, within %g", limits->depth,
            limits->leaf_cases, limits->within);
}

void tree_fit(struct tree *tree, const struct tree_inputs *inputs, const int64_t *values,
              const struct kernel_times *times, const struct tree_limits *limits) {
    check_arguments(inputs, times, limits);
    const size_t size = (size_t)times->case_count * (size_t)times->kernel_count;
    struct fit fit = {.tree = tree,
                      .limits = limits,
                      .kernel_count = times->kernel_count,
                      .input_count = inputs->count,
                      .values = values,
                      .losses = xmalloc((size + 1) * sizeof *fit.losses)};
    int *cases = xmalloc(((size_t)times->case_count + 1) * sizeof *cases), count = 0;
    *tree = (struct tree){.input_count = inputs->count, .kernel_count = times->kernel_count};
    for (int i = 0; i < inputs->count; i++)
        snprintf(tree->names[i], sizeof tree->names[i], "%s", inputs->names[i]);
    for (int c = 0; c < times->case_count; c++) {
        if (kernel_times_fastest(times, c) >= 0)
            cases[count++] = c;
        for (int k = 0; k < times->kernel_count; k++)
            fit.losses[c * times->kernel_count + k] =
                kernel_times_fits(times, c, k)
                    ? (struct loss){0, log(kernel_times_ratio(times, c, k))}
                    : (struct loss){1, 0};
    }
    fit.features = features_list(inputs, &fit.feature_count);
    fit_node(&fit, cases, count, limits->depth);
    free(fit.features);
    free(fit.losses);
    free(cases);
}
