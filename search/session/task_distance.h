/*
 * task_distance: how far a goal of an earlier run is from a goal of this one, to decide how much
 * its results say. The unit is a doubling of one dimension of a case.
 *
 *     double distance = task_distance(config, goal, &device, earlier, other_goal, &earlier_device);
 *
 * 0: the same cases on the same device model. Several cases: the mean over ours of the distance to
 * the nearest of theirs. Dimensions are matched by name, because the earlier run's template may be
 * older.
 */
#ifndef EVOTILE_SESSION_TASK_DISTANCE_H
#define EVOTILE_SESSION_TASK_DISTANCE_H

#include "config/config.h"

double task_distance(const struct config *config, int goal, const struct device_info *device,
                     const struct config *earlier, int other,
                     const struct device_info *earlier_device);

/* The distance of a recorded space, of which only the name of its device is known, and that may be
   empty: of another device model, and of another architecture if another maker's. */
double task_recorded_distance(const char *device_name, const char *recorded_name);

/* Whether genomes of their goal's solution may be genomes of ours: both have no name, or the same.
 */
bool task_same_solution(const struct config *config, int goal, const struct config *earlier,
                        int other);

#endif
