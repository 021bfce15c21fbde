/*
 * forecast: what a model of the device would predict of any genome, guessed from what it predicted
 * of some: a Gaussian process over the logarithms of those predictions. It is for `auto`, whose own
 * process is then over what the measured latencies are off from this: two fidelities, of which the
 * cheap one is known where it was asked for, and guessed elsewhere; and for telling, in
 * microseconds of a core, what is not worth a trial.
 *
 *     struct forecast *forecast = forecast_new(space, predicted, count);
 *     double value = forecast_of(forecast, &genome);
 *     forecast_free(forecast);
 *
 * Values are logarithms of microseconds, the slower half of them compressed: what is slow need not
 * be told apart. Source: Kennedy and O'Hagan, "Predicting the output from a complex computer code
 * when fast approximations are available", 2000; Le Gratiet and Garnier, "Recursive co-kriging",
 * 2014, for one process after the other.
 */
#ifndef EVOTILE_EVOLVE_FORECAST_H
#define EVOTILE_EVOLVE_FORECAST_H

#include "genome/space.h"

/* A genome and what is predicted of it, from elsewhere; positive. */
struct predicted {
    struct genome genome;
    double us;
};

_Static_assert(sizeof(struct predicted) == sizeof(struct genome) + sizeof(double), "it is hashed");

/* The fastest first; those of one latency in the order of their genomes. */
void predicted_sort(struct predicted *predicted, int count);

struct forecast;

/* At least one. Of more than it has room for it keeps the fastest, and others in their order. The
   space outlives it. */
struct forecast *forecast_new(const struct space *space, const struct predicted *predicted,
                              int count);
void forecast_free(struct forecast *forecast);

double forecast_of(const struct forecast *forecast, const struct genome *genome);

/* What the slowest `share` of these genomes are forecast to take more than. At least one. */
double forecast_limit(const struct forecast *forecast, const struct predicted *predicted, int count,
                      double share);

#endif
