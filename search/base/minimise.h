/*
 * minimise: the minimum of a smooth function of a few dozen variables in a box, from its gradient:
 * BFGS with backtracking, variables at a wall held there while the gradient presses them against
 * it. It goes downhill to a minimum near the start, not to the least of all.
 *
 *     static double cost(const double *x, double *gradient, void *context);
 *     double least = minimise(count, x, lower, upper, iterations, cost, context);
 *
 * Source: Nocedal and Wright, "Numerical Optimization", 2006, chapter 6.
 */
#ifndef EVOTILE_BASE_MINIMISE_H
#define EVOTILE_BASE_MINIMISE_H

enum { MINIMISE_MAX = 80 }; /* variables */

/* The value at x and, in `gradient`, its derivatives; INFINITY where it has none. */
typedef double minimise_function(const double *x, double *gradient, void *context);

/* Moves x, which begins within the box, downhill, and returns the value there. At most so many
   steps; fewer when they gain nothing. */
double minimise(int count, double *x, const double *lower, const double *upper, int iterations,
                minimise_function *function, void *context);

#endif
