/*
 * covariance: the covariance function (kernel) of the surrogate, Matern 5/2 of the distance of two
 * genomes; 1 for equal ones. Private to surrogate.c and likelihood.c. Written for the vectoriser:
 * plain loops over floats, our own exponential, no sums across lanes, so that every machine
 * computes the same bits.
 *
 *     float squared[n], correlation[n], gradient_factor[n];
 *     covariance_matern(squared, n, correlation, gradient_factor);
 */
#ifndef EVOTILE_STRATEGY_COVARIANCE_H
#define EVOTILE_STRATEGY_COVARIANCE_H

/* Computes correlations from squared distances, and the factor e in d correlation / d log scale
   = e * (the part of the squared distance measured in that scale). The arrays may not alias. */
void covariance_matern(const float *restrict squared, int count, float *restrict correlation,
                       float *restrict gradient_factor);

#endif
