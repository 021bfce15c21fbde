/*
 * task_features: what a model over tasks (strategy/task_model.h) knows of a goal: its cases and its
 * device, in numbers.
 *
 *     struct task task;
 *     task_describe(&task, "templates/demo", template, earlier, goal, &device);
 *
 * `template` in `folder` is the search's; the config may be that of an earlier run, whose
 * dimensions are matched by name.
 */
#ifndef EVOTILE_SESSION_TASK_FEATURES_H
#define EVOTILE_SESSION_TASK_FEATURES_H

#include "config/config.h"
#include "strategy/task_model.h"

/* Features: base-2 logarithms of the device's multiprocessors, of the blocks of the default genome
   by multiprocessor (which rounds a grid takes decides more than any dimension alone) and of each
   dimension plus one, as means over the goal's cases; a dimension beyond TASK_FEATURES_MAX - 3 is
   left out. */
void task_describe(struct task *task, const char *folder, const struct template *template,
                   const struct config *config, int goal, const struct device_info *device);

#endif
