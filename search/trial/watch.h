/*
 * watch: how the GPU did while something was timed: clocks, temperature, power and what held the
 * clocks down, read through NVML before and after each timed block. It only looks: clocks are never
 * changed by us.
 *
 *     struct watch *watch = watch_new(&device->info);      // NULL where there is nothing to see
 *     watch_begin(watch);                                  // a trial
 *     watch_before(watch); ... timing ...; if (!watch_after(watch)) ... take the block again ...
 *     outcome->conditions = watch_conditions(watch);
 *     watch_free(watch);
 *
 * Throttled means that the hardware or its driver slowed the chip down to protect it: a hardware
 * slowdown, heat, or the power brake. Idle clocks and the software power cap do not count: a GPU
 * that does nothing between two blocks reports the first, and one at its power limit runs as fast
 * as anybody's does. They are noted, not discarded.
 *
 * All functions take NULL for a device that cannot be watched.
 */
#ifndef EVOTILE_TRIAL_WATCH_H
#define EVOTILE_TRIAL_WATCH_H

#include "device/device.h"
#include "device/nvml.h"

#include <sys/types.h>

struct watch;

/* NULL for a device that predicts, and where NVML does not answer. `run` is the process whose
   children use the GPU together. */
struct watch *watch_new(const struct device_info *info, pid_t run);
/* The same over any source of readings. */
typedef void watch_read(void *context, struct nvml_state *state);
struct watch *watch_over(watch_read *read, void *context);
void watch_free(struct watch *watch);

/* Forgets what was noted. Where a block begins within 0.1 s of the last reading, that one stands
   for its beginning; the one at its end is always new. */
void watch_begin(struct watch *watch);
void watch_before(struct watch *watch);
/* False where the GPU was throttled before or after the block, which then counts as discarded. */
bool watch_after(struct watch *watch);
/* What was noted since watch_begin. */
struct conditions watch_conditions(const struct watch *watch);

/* How the GPU is doing now, for people: all that NVML tells, of which limits and memory only at the
   first look. False where nobody can look. */
bool watch_look(struct watch *watch, struct nvml_state *state);

/* Processes that compute on the GPU and are neither the run nor its children; 0 where nobody knows.
 */
int watch_others(const struct watch *watch);

#endif
