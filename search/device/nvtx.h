/*
 * nvtx: marks time ranges for Nsight Systems, which shows when each trial is compiled, verified and
 * timed. Uses NVTX of the CUDA Toolkit; without a tool attached (nsys sets NVTX_INJECTION64_PATH) a
 * call costs some nanoseconds, and if the Toolkit lacks nvtx3, nothing.
 *
 *     nvtx_begin("verify", request->number);     // "verify 4351"
 *     nvtx_end();
 *
 * Ranges nest and are per thread.
 */
#ifndef EVOTILE_DEVICE_NVTX_H
#define EVOTILE_DEVICE_NVTX_H

#include <stdint.h>

void nvtx_begin(const char *name, int64_t trial);
void nvtx_end(void);

#endif
