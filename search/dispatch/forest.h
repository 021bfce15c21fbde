/*
 * forest: predicts how much slower than the fastest each of several kernels is at a shape that was
 * not timed, from their times at others.
 *
 *     struct forest *forest = forest_fit(&inputs, values, &times, seed);
 *     double us[2];                                        // as kernel_times has them:
 *     forest_predict(forest, (int64_t[]){512, 4}, us);     // ratios to the fastest, or NAN
 *     forest_free(forest);
 *
 * It is a mean of regression trees, each grown on cases drawn with repetition (Breiman, "Bagging
 * Predictors", Machine Learning 24, 1996). A tree predicts all kernels at once: of each the
 * logarithm of its time over the least one, at most 1. The same input and seed give the same
 * forest.
 */
#ifndef EVOTILE_DISPATCH_FOREST_H
#define EVOTILE_DISPATCH_FOREST_H

#include "dispatch/feature.h"
#include "dispatch/kernel_times.h"

struct forest;

/* `values` are the inputs of each case: [case][input]. Cases that no kernel fits are left out; NULL
   if none is left. Copies what it needs. */
struct forest *forest_fit(const struct tree_inputs *inputs, const int64_t *values,
                          const struct kernel_times *times, uint64_t seed);
void forest_free(struct forest *forest);

/* Fills `ratios` of all kernels: NAN where most of the trees' cases were not fitted by the kernel,
   else 1 or more, with 1 for the fastest. All are NAN if no kernel is left. */
void forest_predict(const struct forest *forest, const int64_t *values, double *ratios);

#endif
