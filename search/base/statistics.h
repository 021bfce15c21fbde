/*
 * statistics: what we say about a list of measured numbers. Samples come in any order and are left
 * as they are; they are finite, and there is at least one (anything else is our bug).
 *
 *     double p50 = statistics_median(samples, count);
 *     double p90 = statistics_percentile(samples, count, 90);
 *     double score = statistics_geometric_mean(p50s, case_count);
 */
#ifndef EVOTILE_BASE_STATISTICS_H
#define EVOTILE_BASE_STATISTICS_H

#include "base/random.h"

/* The value at position percent/100 * (count-1) of the sorted samples, counting from 0, linearly
   interpolated between its two neighbours: percentile 0 is the least, 100 the greatest. This is
   type 7 of Hyndman and Fan, "Sample Quantiles in Statistical Packages", 1996; numpy's and R's
   default. */
double statistics_percentile(const double *samples, int count, double percent);

/* Percentile 50: the middle sample, or the mean of the two in the middle. */
double statistics_median(const double *samples, int count);

/* exp(mean(log x)); every value is positive. */
double statistics_geometric_mean(const double *values, int count);

/* An interval that holds the mean of what the values were drawn from with this confidence (0.99):
   percentiles of the means of `resamples` draws of as many values, with replacement, widened by
   sqrt(count / (count - 1)) about the mean. Few values make it somewhat too narrow: ten normal ones
   hold 97 % where 99 % is asked. The same values and generator give the same interval. This is the
   percentile bootstrap of Efron and Tibshirani, "An Introduction to the Bootstrap", 1993. */
void statistics_bootstrap_mean(const double *values, int count, double confidence, int resamples,
                               struct random *random, double *low, double *high);

/* How alike two lists order the same things, from -1 to 1: Spearman's rank correlation, in which
   equal values have the mean of their ranks. 0 where one of them has no order. At least two values.
 */
double statistics_rank_correlation(const double *first, const double *second, int count);

#endif
