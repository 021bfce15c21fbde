/*
 * source_mean: the mean function of the surrogate when there are sources (strategy/source.h): a
 * weighted sum of their values, fitted to the search's own results.
 *
 *     struct source_mean mean;
 *     source_mean_prior(&mean, distances, source_count);
 *     source_mean_fit(&mean, source_values, values, count, deviation);
 *     value = prediction_of_residual + source_mean_at(&mean, source_values_of_a_genome);
 *
 * Values of sources are logarithms (strategy/source_model.h); those of the search are standardised,
 * in units of `deviation` of log latency.
 */
#ifndef EVOTILE_STRATEGY_SOURCE_MEAN_H
#define EVOTILE_STRATEGY_SOURCE_MEAN_H

#include "strategy/source.h"
#include "strategy/surrogate.h"

/* value = intercept + sum of weight * value of a source. Zeros: no sources. */
struct source_mean {
    int count;
    double prior[SOURCES_MAX]; /* weights before any result, of sum 1 */
    double intercept, weights[SOURCES_MAX];
};

/* The weights before any result: equal sources share 1, and a farther one has less of it. */
void source_mean_prior(struct source_mean *mean, const double *distances, int count);

/* Fits the weights, none of them negative, to values of the surrogate's rows, NAN for those without
   one: generalised least squares under the surrogate's covariance, with a normal prior. */
void source_mean_fit(struct source_mean *mean, const struct surrogate *surrogate,
                     const double (*source_values)[SOURCES_MAX], const double *values,
                     double deviation);

double source_mean_at(const struct source_mean *mean, const double *source_values);

#endif
