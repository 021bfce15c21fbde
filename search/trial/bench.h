/*
 * bench: the second half of a trial. Holds a device and takes built candidates through correctness,
 * race and timing. One bench a device worker process.
 *
 *     struct bench *bench = bench_new(config, device, compiler, &error);
 *     int status = bench_try(bench, &request, images, &result, &error);
 *     bench_free(bench);
 *
 * After each trial the bench tests itself where a candidate's stray writes are not trapped: if its
 * own kernels no longer answer as they did at first, the trial's verdict is crashed.
 *
 * Nothing is timed before it was correct on every case. Inputs are fresh random numbers each time;
 * outputs and workspaces are poisoned before every run; inputs are checksummed, and red zones
 * checked, after it.
 */
#ifndef EVOTILE_TRIAL_BENCH_H
#define EVOTILE_TRIAL_BENCH_H

#include "trial/compile.h"

struct bench;

/* The bench uses the compiler for templates and for the reference; all three outlive it. */
struct bench *bench_new(const struct config *config, struct device *device,
                        struct compiler *compiler, struct error *error);
void bench_free(struct bench *bench);

/* Says so if anyone else computes on the GPU. A worker under a tool does not ask: its run's own
   worker is there as well, and nothing is timed. */
void bench_warn_of_others(const struct bench *bench);

/* Images as compiler_build gave them. Returns 0: the result is complete, whatever its verdict. -1:
   the device or the template failed, not the candidate. After a verdict of crashed or timeout on a
   real device the process must exit. */
int bench_try(struct bench *bench, const struct trial_request *request,
              const struct device_image images[CASES_MAX], struct trial_result *result,
              struct error *error);

#endif
