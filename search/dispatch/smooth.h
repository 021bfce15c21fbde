/*
 * smooth: times for a tree that has to serve the shapes between those that were timed. A tree that
 * is fitted to few shapes alone follows what happens to be true of two or three of them.
 *
 *     struct smoothing smoothing = {.further_count = 500};         // and the rest of it
 *     int64_t *values;
 *     struct kernel_times rows = smooth_times(&smoothing, &values);
 *     tree_fit(&tree, smoothing.inputs, values, &rows, &limits);
 *     free((double *)rows.us);
 *     free(values);
 *
 * A row is a case with its times; one that was searched is there SMOOTH_WEIGHT times, so that the
 * tree serves it. Then there is a row for each further shape, with what a forest (forest.h) of the
 * cases predicts there. Fitting a simple model to the predictions of a larger one is Breiman's and
 * Shang's "Born Again Trees" (1996).
 */
#ifndef EVOTILE_DISPATCH_SMOOTH_H
#define EVOTILE_DISPATCH_SMOOTH_H

#include "dispatch/feature.h"
#include "dispatch/kernel_times.h"

#include <stdbool.h>

/* SMOOTH_LEAF_ROWS: what a leaf of the tree has at least. */
enum { SMOOTH_WEIGHT = 16, SMOOTH_LEAF_ROWS = 4 };

struct smoothing {
    const struct tree_inputs *inputs;
    const int64_t *values; /* [case][input] */
    struct kernel_times times;
    const bool *searched; /* of each case */
    int further_count;
    const int64_t *further; /* [shape][input]: shapes that were not timed */
    uint64_t seed;          /* of the forest */
};

/* The rows' values are [row][input]. No row if no kernel fits any case. The caller frees both. */
struct kernel_times smooth_times(const struct smoothing *smoothing, int64_t **values);

#endif
