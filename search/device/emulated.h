/*
 * emulated: the backend without a GPU. Kernels run on the CPU, interpreted from the PTX that NVRTC
 * emitted (ptx/ptx.h): their results and their faults are real. Latencies are predictions
 * (predict.h) from the device's published figures and from the counters of the kernel's last run
 * with the same geometry and scalar arguments; if there was none, a few blocks are run to collect
 * them, and a fault in these is the verdict.
 *
 *     struct device *device = emulated_open_with(&info, &error);
 *     device->backend->module_load(device, &image, &module, &error);
 *     device_close(device);
 *
 * Faults map to verdicts: a store outside every allocation is wrote_outside; a store to a read-only
 * allocation (protect) is changed_input; an endless loop or deadlock is timeout; a load outside
 * every allocation, a misaligned access, a trap or an unknown opcode is crashed. The process can
 * continue after each of them.
 *
 * Occupancy and registers come from ptxas's report in the image's log (compile with
 * --ptxas-options=-v).
 */
#ifndef EVOTILE_DEVICE_EMULATED_H
#define EVOTILE_DEVICE_EMULATED_H

#include "device/predict.h"
#include "ptx/racecheck.h"

extern const struct device_backend emulated_backend;

/* Opens a device with these figures, which are copied; sets info->predicts in the copy. Returns
   NULL with `error` if a required figure is missing. device_open("emulated:sm_XX") does this with
   the figures of a device file. */
struct device *emulated_open_with(const struct device_info *info, struct error *error);

/* Attaches the race checker to every later launch of a kernel in a module with a variable `symbol`;
   NULL: to all launches. The device owns the race checker. Call it before the device has memory or
   modules. A checked launch has an instruction limit instead of a deadline, and is three to nine
   times as slow (make bench-emulated, OBSERVED=1). */
struct ptx_racecheck *emulated_attach_racecheck(struct device *device, const char *symbol);

/* Lets later calls execute this many warp instructions in all; then a call ends with
   VERDICT_TIMEOUT, and emulated_is_exhausted. Unlike a deadline, this ends it at the same place on
   every host. */
void emulated_limit_instructions(struct device *device, uint64_t instructions);
bool emulated_is_exhausted(struct device *device);

/* Lets later calls run at most this many clusters (or blocks) of each launch that is not
   cooperative, spread over the grid; 0: all. */
void emulated_sample_clusters(struct device *device, uint64_t clusters);

/* Runs one cluster of each launch that is not cooperative: the one at `position` of its grid, from
   0, the first, to below 1. Executes at most so many warp instructions: more are VERDICT_TIMEOUT.
   Predictions do not use its counters. */
enum verdict emulated_run_cluster(struct device *device, const struct device_sequence *sequence,
                                  double position, uint64_t instructions, char *reason);

/* Sets the number of host threads that interpret independent blocks (ptx/ptx.h), for a process that
   has the host to itself. Results, counters and predictions do not change. */
void emulated_set_threads(struct device *device, int threads);

/* Counts what a call executes by running a few blocks of each of its launches, evenly spread over
   the grid; the memory that they write is invalid afterwards. Returns the verdict of the run, with
   a reason unless ok. */
enum verdict emulated_trace(struct device *device, const struct device_sequence *sequence,
                            const struct prediction_work *work, struct prediction_call *call,
                            char *reason);

/* Warp instructions that the device has executed so far. */
uint64_t emulated_instructions(struct device *device);

#endif
