/*
 * minimise: finds a local minimum of a smooth function of a few dozen variables within bounds,
 * using its gradient: BFGS with a backtracking line search. A variable at a bound stays there while
 * the gradient points outwards. The result is a minimum near the start, not the global one.
 *
 *     double cost(const double *x, double *gradient, void *context);
 *     double minimum = minimise(count, x, lower, upper, iterations, cost, context);
 *
 * Source: Nocedal and Wright, "Numerical Optimization", 2006, chapter 6.
 */
#ifndef EVOTILE_BASE_MINIMISE_H
#define EVOTILE_BASE_MINIMISE_H

enum { MINIMISE_MAX = 80 }; /* variables */

/* Returns the value at x and writes its derivatives to `gradient`; INFINITY where undefined. */
typedef double minimise_cost(const double *x, double *gradient, void *context);

/* Moves x, which must start within the bounds, to a minimum and returns the value there. Takes at
   most `iterations` steps; stops earlier when the function no longer decreases. */
double minimise(int count, double *x, const double *lower, const double *upper, int iterations,
                minimise_cost *function, void *context);

#endif
