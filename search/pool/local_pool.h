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
 * Workers that die, hang or do not start, and the quarantine of devices: pool/README.md. When the
 * last device cannot go on, pool_wait fails. pool_free does not wait for a killed worker, which
 * runs nothing more.
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
    int device_workers;  /* per device; 0: one, or one per core for a single emulated device */
    double deadline_s;   /* of either stage; 0: 120 s to compile, 300 s for the rest */
    int trials_a_worker; /* after which it is replaced, so that library leaks do not add up
                            overnight; 0: 400 */
};

/* Starts the workers and waits until every device has a ready worker or is quarantined. Fails
   with the worker's error text when no device can start, and when the devices are of several
   models. */
struct pool *local_pool_new(const struct local_pool_settings *settings, struct error *error);

/* Its two halves, for a caller that starts several pools at once: the first does not wait, and
   nothing but pool_free may come before the second. */
struct pool *local_pool_start(const struct local_pool_settings *settings, struct error *error);
int local_pool_finish_start(struct pool *pool, struct error *error);

#endif
