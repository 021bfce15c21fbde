/*
 * kernel: how much alike two genomes are to the surrogate: Matern 5/2 of their distance, 1 for
 * equals. Private to surrogate.c and its fit. Written for the vectoriser: plain loops over floats,
 * an exponential of our own, no sums across lanes; so every machine gets the same numbers.
 *
 *     float squared[n], alike[n], steepness[n];
 *     kernel_matern(squared, n, alike, steepness);
 */
#ifndef EVOTILE_EVOLVE_KERNEL_H
#define EVOTILE_EVOLVE_KERNEL_H

/* From squared distances: the likeness, and the factor e in d alike / d log scale = e * (the part
   of the squared distance that is measured in that scale). `steepness` may not alias. */
void kernel_matern(const float *restrict squared, int count, float *restrict alike,
                   float *restrict steepness);

#endif
