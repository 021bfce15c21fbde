/*
 * statistics: summary statistics of measured samples. Samples may be in any order and are not
 * modified; they are finite, and there is at least one (anything else is a BUG).
 *
 *     double p50 = statistics_median(samples, count);
 *     double p90 = statistics_percentile(samples, count, 90);
 *     double score = statistics_geometric_mean(p50s, case_count);
 */
#ifndef EVOTILE_BASE_STATISTICS_H
#define EVOTILE_BASE_STATISTICS_H

#include "base/random.h"

/* The value at position percent/100 * (count-1) of the sorted samples, counting from 0, linearly
   interpolated between its two neighbours: percentile 0 is the minimum, 100 the maximum. This is
   type 7 of Hyndman and Fan, "Sample Quantiles in Statistical Packages", 1996; numpy's and R's
   default. */
double statistics_percentile(const double *samples, int count, double percent);

/* Percentile 50: the middle sample, or the mean of the two in the middle. */
double statistics_median(const double *samples, int count);

/* An interval that covers the median of the distribution that the samples were drawn from with a
   probability of about 95 %, whatever the distribution: two of the sorted samples, 1.96 standard
   deviations of a binomial of one half away from the middle (David and Nagaraja, "Order
   Statistics", 3rd ed., section 7.1). Few samples give their minimum and maximum. */
void statistics_median_interval(const double *samples, int count, double *low, double *high);

double statistics_mean(const double *values, int count);
/* exp(mean(log x)); every value is positive. */
double statistics_geometric_mean(const double *values, int count);
/* exp(sum(w log x) / sum(w)); every weight is positive. NULL: all weights are equal. */
double statistics_weighted_geometric_mean(const double *values, const double *weights, int count);

/* A bootstrap confidence interval of the mean of the distribution that the values were drawn from,
   at the given confidence (0.99): percentiles of the means of `resamples` draws of `count` values
   with replacement, widened by sqrt(count / (count - 1)) about the mean. For few values the
   interval is somewhat too narrow: with ten normal values a 99 % interval covers the mean in 97 %
   of cases. The same values and generator give the same interval. This is the percentile bootstrap
   of Efron and Tibshirani, "An Introduction to the Bootstrap", 1993. */
void statistics_bootstrap_mean(const double *values, int count, double confidence, int resamples,
                               struct random *random, double *low, double *high);

/* The half width of a 99 % interval in deviations that were estimated with so many degrees of
   freedom: 2.58 for many; INFINITY below STUDENT_FREEDOM_MIN. Within 2 %: Abramowitz and Stegun,
   "Handbook of Mathematical Functions", 26.7.5. */
enum { STUDENT_FREEDOM_MIN = 4 };
double statistics_student_99(int freedom);

/* Spearman's rank correlation of two lists, from -1 to 1; ties get their mean rank. 0 if all values
   of one list are equal. `count` is at least 2. */
double statistics_rank_correlation(const double *first, const double *second, int count);

#endif
