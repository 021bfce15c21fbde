/*
 * learn_from: earlier runs and recorded spaces as sources of a search (strategy/source.h), for
 * `run --learn-from` and `suggest`.
 *
 *     struct learn_from *learn = learn_from_open("results,space.json.gz", config, &error);
 *     struct source *sources;
 *     int count = learn_from_sources(learn, config, goal, template, &device, &sources);
 *     sources_free(sources, count);
 *     learn_from_close(learn);
 *
 * Each goal of an earlier run of the same template is a source. Its distance is that of the cases
 * and devices (task_distance.h). Goals of other solutions, and runs that minimise something else,
 * are none. A recorded space, of which the cases are not known, is as far as another device model,
 * or further if another maker's.
 */
#ifndef EVOTILE_SESSION_LEARN_FROM_H
#define EVOTILE_SESSION_LEARN_FROM_H

#include "config/config.h"
#include "strategy/source_text.h"
#include "strategy/task_model.h"

struct learn_from;

/* `paths`, separated by commas: run folders, folders of run folders, and files of recorded spaces.
   Reads them here. NULL with `error` if one cannot be read, or if there is no trial to learn from.
 */
struct learn_from *learn_from_open(const char *paths, const struct config *config,
                                   struct error *error);

/* The same for the newest runs of the template in the index of runs (run/run_index.h), if it has
   any: at most `goal_most` sources a goal. Runs that cannot be read are skipped with a warning.
   NULL with `error` if the index cannot be read. */
struct learn_from *learn_from_open_index(const struct config *config, int goal_most,
                                         struct error *error);
void learn_from_close(struct learn_from *learn);

/* The usable sources of a goal, for sources_free; of more than SOURCES_MAX the nearest. Returns
   their number. */
int learn_from_sources(struct learn_from *learn, const struct config *config, int goal,
                       const struct template *template, const struct device_info *device,
                       struct source **sources);

/* The same with the task of each source and the goal's own, for a model over tasks
   (strategy/task_model.h). Features are logarithms of the dimensions, as the means over the cases,
   and the device's multiprocessors and architecture; the scale is the least time of the cases by
   the template's operations and bytes and the device's rates. */
int learn_from_tasks(struct learn_from *learn, const struct config *config, int goal,
                     const struct template *template, const struct device_info *device,
                     struct source **sources, struct task tasks[SOURCES_MAX], struct task *target);

/* The device of the run that was read last, of the index that of the newest. NULL: only recorded
   spaces were read. */
const struct device_info *learn_from_device(const struct learn_from *learn);

/* Prints the folders of the runs that were a source of a goal so far, cut to `size` bytes. Returns
   their number. */
int learn_from_print_runs(const struct learn_from *learn, char *text, size_t size);

#endif
