/*
 * range: names stretches of time, so that Nsight Systems shows a run as it is: which trial is
 * compiled, verified, timed. NVTX of the CUDA Toolkit; without a tool attached (nsys sets
 * NVTX_INJECTION64_PATH) a call costs some nanoseconds, and where the Toolkit lacks nvtx3 nothing.
 *
 *     range_begin("verify", request->number);     // "verify 4351"
 *     ...
 *     range_end();
 *
 * Ranges nest, and belong to the thread that began them.
 */
#ifndef EVOTILE_DEVICE_RANGE_H
#define EVOTILE_DEVICE_RANGE_H

#include <stdint.h>

void range_begin(const char *name, int64_t trial);
void range_end(void);

#endif
