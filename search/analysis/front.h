/*
 * front: which of several kernels no other one dominates in latency and energy.
 *
 *     struct front_point points[] = {{.us = 100, .mj = 40}, {.us = 120, .mj = 30},
 *                                    {.us = 130, .mj = 45}};
 *     front_mark(points, 3); // the third one is not on the front
 */
#ifndef EVOTILE_ANALYSIS_FRONT_H
#define EVOTILE_ANALYSIS_FRONT_H

#include "outcome/outcome.h"

struct front_point {
    int64_t trial;
    int64_t rank;              /* the caller's */
    double us, mj;             /* both more than 0 */
    double us_error, mj_error; /* relative standard errors */
    bool on_front;
};

/* The point of a trial. Returns false if its energy was not measured in every case. */
bool front_point_of(const struct outcome *outcome, struct front_point *point);

/* Sorts the points by latency and marks those on the front. A point dominates another if it is no
   worse in both figures and clearly better in one: by more than two standard errors of the
   difference, at least 0.5 % of latency and 1 % of energy. */
void front_mark(struct front_point *points, int count);

#endif
