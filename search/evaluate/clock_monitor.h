/*
 * clock_monitor: records a GPU's clocks, temperature, power and throttling during timing, read
 * through NVML before and after each timed block. It only reads: evotile never changes clocks.
 *
 *     struct clock_monitor *monitor = clock_monitor_new(&device->info, getppid()); // NULL: no NVML
 *     clock_monitor_reset(monitor);                                                // a trial
 * starts do clock_monitor_begin_block(monitor); // then time a block while
 * (!clock_monitor_end_block(monitor)); // throttled: repeat it outcome->conditions =
 * clock_monitor_conditions(monitor); clock_monitor_free(monitor);
 *
 * Throttled means that the hardware or its driver slowed the chip down to protect it: a hardware
 * slowdown, heat, or the power brake. Idle clocks and the software power cap do not count: a GPU
 * that idles between two blocks reports the first, and every GPU at its power limit reports the
 * second. They are recorded, but the block is not discarded.
 *
 * All functions accept NULL, for a device that cannot be monitored.
 */
#ifndef EVOTILE_EVALUATE_CLOCK_MONITOR_H
#define EVOTILE_EVALUATE_CLOCK_MONITOR_H

#include "device/device.h"
#include "device/nvml.h"

#include <sys/types.h>

struct clock_monitor;

/* Returns NULL for a device that predicts and if NVML is not available. Processes that are `run`
   or its children count as the run's own. */
struct clock_monitor *clock_monitor_new(const struct device_info *info, pid_t run);
/* The same with another source of readings. */
typedef void clock_monitor_reader(void *context, struct nvml_state *state);
struct clock_monitor *clock_monitor_new_with_reader(clock_monitor_reader *read, void *context);
void clock_monitor_free(struct clock_monitor *clock_monitor);

/* Clears the recorded conditions. If a block begins within 0.1 s of the last reading, that
   reading counts as its beginning; the reading at its end is always new. */
void clock_monitor_reset(struct clock_monitor *clock_monitor);
void clock_monitor_begin_block(struct clock_monitor *clock_monitor);
/* Returns false if the GPU was throttled before or after the block, which then counts as
   discarded. */
bool clock_monitor_end_block(struct clock_monitor *clock_monitor);
/* The conditions recorded since clock_monitor_reset. */
struct conditions clock_monitor_conditions(const struct clock_monitor *clock_monitor);

/* Reads the GPU's current state for display: all that NVML reports; limits and memory only on
   the first call. Returns false if the GPU cannot be read. */
bool clock_monitor_read_state(struct clock_monitor *clock_monitor, struct nvml_state *state);

/* Number of processes that compute on the GPU and are neither the run nor its children; 0 if
   unknown. */
int clock_monitor_other_processes(const struct clock_monitor *clock_monitor);

#endif
