/*
 * regret_shapes: shapes, and at each how much slower the chosen kernel is than the fastest.
 *
 *     struct regret_shapes shapes;
 *     regret_shapes_init(&shapes, names, 2);
 *     regret_shapes_add(&shapes, (double[]){512, 4}, 1.02, false);
 *     regret_shapes_add(&shapes, (double[]){512, 8}, REGRET_UNSERVED, false);
 *     regret_shapes_release(&shapes);
 */
#ifndef EVOTILE_DISPATCH_REGRET_SHAPES_H
#define EVOTILE_DISPATCH_REGRET_SHAPES_H

#include <math.h>
#include <stdbool.h>

/* In place of a ratio: a kernel fits the shape, and the choice has none; no kernel fits it. */
#define REGRET_UNSERVED ((double)INFINITY)
#define REGRET_UNFIT    ((double)NAN)

struct regret_shapes {
    int dimension_count, count;
    char **names;   /* of the dimensions; from anywhere: escape them */
    double *values; /* [shape][dimension] */
    double *ratios; /* the time of the choice over the least one, 1 or more; or one of the above */
    bool *fitted;   /* the choice was fitted to the shape */
};

/* Copies the names. */
void regret_shapes_init(struct regret_shapes *shapes, const char *const *names, int count);
/* Copies the values of a shape, one for each dimension. */
void regret_shapes_add(struct regret_shapes *shapes, const double *values, double ratio,
                       bool fitted);
void regret_shapes_release(struct regret_shapes *shapes);

#endif
