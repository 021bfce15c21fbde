/*
 * squash: latencies as the numbers that a surrogate models: logarithms, those of the slower half
 * compressed, as it is the fast half that is to be told apart; then standardised.
 *
 *     struct squash squash = squash_over(sorted_us, count);      // ascending, at least one
 *     double value = squash_of(&squash, latency_us);
 */
#ifndef EVOTILE_EVOLVE_SQUASH_H
#define EVOTILE_EVOLVE_SQUASH_H

struct squash {
    double middle, span;    /* of logarithms: the median, and from there to the least */
    double mean, deviation; /* of the compressed ones */
};

struct squash squash_over(const double *sorted_us, int count);
double squash_of(const struct squash *squash, double us);
/* The variance of that value, where the latency has this relative standard error. */
double squash_noise(const struct squash *squash, double us, double error);

#endif
