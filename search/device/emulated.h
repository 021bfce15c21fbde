/*
 * emulated: the backend without a GPU. Kernels run for real, on the CPU, from the PTX that NVRTC
 * emitted (ptx/ptx.h): their results and their faults are true. Latencies are predictions
 * (predict.h) from the published figures in the device's info and from what the kernel executed
 * when it last ran with that geometry and those scalars; where it never did, some blocks of it run
 * so that it is known: a fault of theirs is the verdict.
 *
 *     struct device *device = emulated_open_with(&info, &error);
 *     device->backend->module_load(device, &image, &module, &error);
 *     device_close(device);
 *
 * How faults become verdicts: a store outside of every allocation is wrote_outside, one to an
 * allocation that was declared read-only (protect) changed_input; endless loops and deadlocks are
 * timeout; loads outside, misaligned accesses, traps and unknown opcodes are crashed. None of them
 * harms the process: it may go on.
 *
 * Occupancy and registers come from ptxas's report in the image's log (compile with
 * --ptxas-options=-v).
 */
#ifndef EVOTILE_DEVICE_EMULATED_H
#define EVOTILE_DEVICE_EMULATED_H

#include "device/predict.h"
#include "device/ptx/microscope.h"

extern const struct device_backend emulated_backend;

/* A device with these figures, which are copied; info->predicts is set. NULL with `error` if they
   make no device. device_open("emulated:sm_XX") is this with the figures of a file. */
struct device *emulated_open_with(const struct device_info *info, struct error *error);

/* Looks from now on at every launch of a kernel whose module has a variable `symbol`; NULL: of all.
   The microscope is the device's, and ends with it. To be called before the device has memory or
   modules. Such a launch has no deadline but a limit of instructions: it is three to nine times as
   slow (make bench-emulated, OBSERVED=1). */
struct ptx_microscope *emulated_microscope(struct device *device, const char *symbol);

/* Runs blocks on so many threads from now on, where they do not see each other (ptx/ptx.h): for who
   has the host to itself. Results, counts and predictions are the same. */
void emulated_spread(struct device *device, int threads);

/* What a call executes, from a few blocks of each of its launches, evenly spread over the grid.
   What they leave in memory is worth nothing. The call's operations and bytes are those that its
   template counts. The verdict of running them, with its reason unless ok. */
enum verdict emulated_survey(struct device *device, const struct device_sequence *sequence,
                             int64_t operations, int64_t bytes, struct prediction_call *call,
                             char *reason);

/* Warp instructions that its kernels have executed so far. */
uint64_t emulated_instructions(struct device *device);

#endif
