/*
 * local_pool: a pool of worker processes on this host.
 *
 * Compile workers (NVRTC serialises compilations within a process) and device workers (one a GPU)
 * are child processes; the parent never initialises CUDA. A candidate that hangs or kills its
 * worker costs one trial and one worker restart. SIGPIPE must be ignored.
 *
 *     const struct local_pool_settings settings = {.program = program, .config_path = config_path,
 *         .template_folder = folder, .devices = "cuda:all", .compile_workers = 15};
 *     struct pool *pool = local_pool_new(&settings, &error);
 *     pool_submit(pool, &request);                           // pool/pool.h
 *     pool_free(pool);
 *
 * Deadlines: 120 s for a compilation, 300 s for the rest of a trial. A worker that misses its
 * deadline is killed, and its trial gets the verdict timeout. A worker that dies during a trial
 * gives it the verdict crashed. In both cases a replacement starts immediately. While a killed
 * device worker has not exited (a driver can take minutes to end a kernel that hangs), its
 * replacement gets no trial, so that nothing is timed beside the old kernel; compiling goes on.
 *
 * A device is quarantined, with a warning, when
 *   - its worker fails to start three times in a row, or reports that the device is gone,
 *   - a killed worker has not exited after 10 minutes, or
 *   - so many of its trials in a row crash or hang that the rates of the other devices make chance
 *     an implausible explanation.
 * The other devices go on. The last device is never quarantined: there the first two make pool_wait
 * fail. pool_free does not wait for a killed worker, which runs nothing more.
 */
#ifndef EVOTILE_POOL_LOCAL_POOL_H
#define EVOTILE_POOL_LOCAL_POOL_H

#include "pool/pool.h"

enum { LOCAL_POOL_WORKERS_MAX = 256 };

/* The pool copies the strings. */
struct local_pool_settings {
    const char *program;         /* the evotile binary */
    const char *config_path;     /* read by the workers */
    const char *template_folder; /* overrides the config's template */
    const char *devices;         /* a list (device/list.h), all of one model */
    int compile_workers;         /* 0: device workers compile their own trials */
    int device_workers; /* per device; 0: one, or one per core for a single emulated device */
    double deadline_s;  /* of either stage; 0: the defaults above */
};

/* Starts the workers and waits until every device has a ready worker or is quarantined. Fails
   with the worker's error text when no device can start, and when the devices are of several
   models. */
struct pool *local_pool_new(const struct local_pool_settings *settings, struct error *error);

#endif
