/*
 * source_mean: the mean function of the surrogate when there are sources (strategy/source.h): a
 * weighted sum of their values. The weights are fitted to the search's own results by generalised
 * least squares under the surrogate's covariance, with a ridge, and none is negative: what the
 * process explains by itself says nothing for a source, and a source that does not agree has no
 * weight. Such a regression on the residuals' covariance is universal kriging with a prior
 * (Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, section 2.7); an
 * alternative is weights by ranks (Feurer, Letham and Bakshy, "Scalable meta-learning for Bayesian
 * optimization", 2018).
 *
 *     struct source_mean mean;
 *     source_mean_prior(&mean, distances, source_count);
 *     double of_rows[ROWS_MAX][SOURCES_MAX], of_genome[SOURCES_MAX];
 *     source_mean_fit(&mean, surrogate, of_rows, values);
 *     double value = source_mean_at(&mean, of_genome); // the process predicts the rest
 *
 * Values of sources (strategy/source_model.h) and of the search are standardised.
 */
#ifndef EVOTILE_STRATEGY_SOURCE_MEAN_H
#define EVOTILE_STRATEGY_SOURCE_MEAN_H

#include "strategy/source.h"
#include "strategy/surrogate.h"

/* value = intercept + sum of weight * value of a source. Zeros: no sources. */
struct source_mean {
    int count;
    double intercept, weights[SOURCES_MAX];
};

/* The weights before any result: equal sources share them, and a farther one has less. */
void source_mean_prior(struct source_mean *mean, const double *distances, int count);

/* Fits the weights to values of the surrogate's rows, NAN for those without one. */
void source_mean_fit(struct source_mean *mean, const struct surrogate *surrogate,
                     const double (*source_values)[SOURCES_MAX], const double *values);

/* The logarithm of the evidence for the sources: how many times as likely the values are if one of
   the sources, each as likely as the others, has a weight of the ridge's prior, than by the process
   alone. A source that says the opposite counts as one without a weight. */
double source_mean_evidence(const struct surrogate *surrogate, int count,
                            const double (*source_values)[SOURCES_MAX], const double *values);

double source_mean_at(const struct source_mean *mean, const double *source_values);

#endif
