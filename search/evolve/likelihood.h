/*
 * likelihood: how likely values are under the surrogate's scales and noise, with its gradient, and
 * the scales that make them likeliest. Private to surrogate.c. Parameters are the logarithms of the
 * features' length scales and, last, that of the noise's variance (relative to the signal's, which
 * is eliminated).
 *
 *     double parameters[FEATURES_MAX + 1];
 *     likelihood_prior(features, parameters);
 *     likelihood_fit(features, genomes, values, count, parameters);
 */
#ifndef EVOTILE_EVOLVE_LIKELIHOOD_H
#define EVOTILE_EVOLVE_LIKELIHOOD_H

#include "evolve/features.h"

/* The centres of the priors. */
void likelihood_prior(const struct features *features, double *parameters);

/* The negative logarithm of likelihood times priors, up to a constant, and its derivatives.
   INFINITY where the covariance is not positive definite. */
double likelihood_cost(const struct features *features, const struct genome *genomes,
                       const double *values, int count, const double *parameters, double *gradient);

/* Moves the parameters to where that is least. */
void likelihood_fit(const struct features *features, const struct genome *genomes,
                    const double *values, int count, double *parameters);

#endif
