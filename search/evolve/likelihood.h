/*
 * likelihood: how likely values are under the surrogate's scales and noise, with its gradient, and
 * the scales that make them likeliest. Private to surrogate.c. Parameters are the logarithms of the
 * features' length scales and, last, that of the noise's variance (relative to the signal's, which
 * is eliminated). Beside that each value may have a noise of its own, which is known.
 *
 *     double parameters[FEATURES_MAX + 1];
 *     likelihood_prior(features, parameters);
 *     double signal = likelihood_fit(features, genomes, values, noises, count, 1, parameters);
 */
#ifndef EVOTILE_EVOLVE_LIKELIHOOD_H
#define EVOTILE_EVOLVE_LIKELIHOOD_H

#include "evolve/features.h"

/* The centres of the priors. */
void likelihood_prior(const struct features *features, double *parameters);

/* The negative logarithm of likelihood times priors, up to a constant, and its derivatives.
   INFINITY where the covariance is not positive definite. `noises`: the variances of the values'
   own, which are set against a signal whose variance was `signal` when it was looked at last. */
double likelihood_cost(const struct features *features, const struct genome *genomes,
                       const double *values, const double *noises, int count, double signal,
                       const double *parameters, double *gradient);

/* Moves the parameters to where that is least, and returns the signal's variance there. */
double likelihood_fit(const struct features *features, const struct genome *genomes,
                      const double *values, const double *noises, int count, double signal,
                      double *parameters);

#endif
