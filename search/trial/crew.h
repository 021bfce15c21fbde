/*
 * crew: a pool of processes on this host. Compile workers (NVRTC holds one lock a process) and
 * device workers (one a GPU) are children of ours; the parent never touches CUDA. A candidate that
 * hangs or kills its worker costs itself and a restart, nothing else.
 *
 *     const struct crew_settings settings = {program, config_path, folder, "cuda:all", 15};
 *     struct pool *pool = crew_new(&settings, &error);
 *     ...                                                     // trial/pool.h
 *     pool_free(pool);
 *
 * Deadlines: a compilation 120 s, the rest of a trial 300 s; past them the worker is killed and the
 * trial's verdict is timeout. A worker that dies with a candidate gives it the verdict crashed.
 * Another is started in its place at once. Where a killed device worker has not gone (a driver can
 * take minutes to end a kernel that hangs), the other gets no trial before it has, so that nothing
 * is timed beside it; compiling goes on.
 *
 * A device is set aside, with a warning, when its worker does not start three times in a row or
 * says that the device is gone, when a killed worker has not gone after 10 minutes, and when
 * so many of its trials end in a crash or a hang in a row as those of the others make all but
 * impossible. The others go on; of the last one, all but the last of these is the end: pool_wait
 * fails. pool_free does not wait for a killed worker: it runs nothing more.
 */
#ifndef EVOTILE_TRIAL_CREW_H
#define EVOTILE_TRIAL_CREW_H

#include "trial/pool.h"

enum { CREW_WORKERS_MAX = 256 };

/* The crew copies the strings. */
struct crew_settings {
    const char *program;         /* evotile itself */
    const char *config_path;     /* a file that workers read */
    const char *template_folder; /* the one to use, whatever the config says */
    const char *devices;         /* a list as of device/list.h, all of one model */
    int compile_workers;         /* 0: device workers compile for themselves */
    int device_workers; /* a device; 0: one, or one a core where the only one is emulated */
    double deadline_s;  /* of either stage; 0: those above */
};

/* Starts the workers and waits until every device has one that is ready, or is set aside. Fails
   with the worker's own words when none can, and when the devices are of several models. */
struct pool *crew_new(const struct crew_settings *settings, struct error *error);

#endif
