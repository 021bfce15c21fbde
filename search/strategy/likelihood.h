/*
 * likelihood: the marginal likelihood of the surrogate's hyperparameters with its gradient, and its
 * maximisation. Private to surrogate.c. The parameters are the logarithms of the features' length
 * scales and, last, the logarithm of the fitted noise variance relative to the signal variance,
 * which is eliminated analytically. Each value may also have a known noise variance of its own.
 *
 *     double parameters[FEATURES_MAX + 1];
 *     struct likelihood_prior prior;
 *     likelihood_prior_init(&prior, features);
 *     likelihood_start(features, &prior, parameters);
 *     double signal_variance =
 *         likelihood_fit(features, &prior, genomes, values, noises, count, 1, parameters);
 */
#ifndef EVOTILE_STRATEGY_LIKELIHOOD_H
#define EVOTILE_STRATEGY_LIKELIHOOD_H

#include "strategy/features.h"

/* Normal priors of the logarithms of the length scales. */
struct likelihood_prior {
    double centres[FEATURES_MAX], deviation;
};

/* Length scales within a factor of two; their centre grows with the root of the number of features.
 */
void likelihood_prior_init(struct likelihood_prior *prior, const struct features *features);

/* Sets the parameters to the centres of their priors. */
void likelihood_start(const struct features *features, const struct likelihood_prior *prior,
                      double *parameters);

/* The negative log posterior (likelihood times priors) up to a constant, and its gradient.
   INFINITY where the covariance matrix is not positive definite. `noises` are the known noise
   variances of the values; they are divided by `signal_variance`, the estimate of the previous
   fit. */
double likelihood_cost(const struct features *features, const struct likelihood_prior *prior,
                       const struct genome *genomes, const double *values, const double *noises,
                       int count, double signal_variance, const double *parameters,
                       double *gradient);

/* Minimises that cost over the parameters, starting from their values. Returns the signal
   variance at the minimum. */
double likelihood_fit(const struct features *features, const struct likelihood_prior *prior,
                      const struct genome *genomes, const double *values, const double *noises,
                      int count, double signal_variance, double *parameters);

#endif
