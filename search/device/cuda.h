/*
 * cuda: the backend for real GPUs, through the driver API.
 *
 * libcuda is opened at run time. Opening a GPU leaves the process on the processors next to it
 * (device/numa.h). The context is the device's primary one; a process that got
 * VERDICT_CRASHED or VERDICT_TIMEOUT from it must exit, for the context does not recover.
 * Memory that is freed is kept for the next allocation of its size, unless device->fresh_memory.
 * Allocations are surrounded by red zones of a known pattern that `guards` checks.
 */
#ifndef EVOTILE_DEVICE_CUDA_H
#define EVOTILE_DEVICE_CUDA_H

#include "device/device.h"

extern const struct device_backend cuda_backend;

/* What is known of a GPU without opening it, which takes a fraction of the time. As below: in a
   child. */
int cuda_describe(const char *spec, struct device_info *info, struct error *error);

/* How many GPUs the driver sees: 0 without a driver. Initialises the driver, not a context; the
   parent of workers must not call it (fork after cuInit is undefined): ask a child. */
int cuda_device_count(struct error *error);

/* The CUDA Toolkit that evotile was built with, and the newest that the driver here knows (0: there
   is none): 13000 is 13.0. Neither initialises anything. */
int cuda_built_with(void);
int cuda_driver_version(void);

#endif
