/*
 * cuda: the backend for real GPUs, through the driver API.
 *
 *     struct device *device = cuda_backend.open("cuda:0", &error);
 *     cuda_backend.close(device);
 *
 * libcuda is opened at run time. Opening a GPU pins the process to the CPU cores next to it
 * (device/numa.h). The context is the device's primary context; a process that got VERDICT_CRASHED
 * or VERDICT_TIMEOUT from it must exit, because the context does not recover. Freed memory is
 * cached for the next allocation of its size, unless device->fresh_memory. Allocations are
 * surrounded by red zones of a known pattern, which the backend's check_red_zones verifies.
 */
#ifndef EVOTILE_DEVICE_CUDA_H
#define EVOTILE_DEVICE_CUDA_H

#include "device/device.h"

extern const struct device_backend cuda_backend;

/* Describes a GPU without creating a context, which takes a fraction of the time. It initialises
   the driver: call it in a child process, as below. */
int cuda_describe(const char *spec, struct device_info *info, struct error *error);

/* The number of GPUs that the driver sees; 0 without a driver. Initialises the driver, but no
   context. The parent of workers must not call it, because fork after cuInit is undefined: use a
   child process. */
int cuda_device_count(struct error *error);

/* The CUDA Toolkit version of the build, and the newest version that the installed driver supports
   (0: no driver): 13000 is 13.0. Neither initialises the driver. */
int cuda_built_with(void);
int cuda_driver_version(void);

#endif
