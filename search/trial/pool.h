/*
 * pool: the worker processes of a run. Compile workers (NVRTC holds one lock a process) and device
 * workers (one a GPU) are children of ours; the parent never touches CUDA. A candidate that hangs
 * or kills its worker costs itself and a restart, nothing else.
 *
 *     struct pool *pool = pool_new(&settings, &error);
 *     pool_submit(pool, &request);                             // takes the request over
 *     while (pool_wait(pool, 0.5, &result, &error) == 1) { ...; trial_result_release(&result); }
 *     pool_free(pool);
 *
 * Results come in any order. Deadlines: a compilation 120 s, the rest of a trial 300 s; past them
 * the worker is killed and the trial's verdict is timeout. A worker that dies with a candidate
 * gives it the verdict crashed. Another is started in its place at once. Where a killed device
 * worker has not gone (a driver can take minutes to end a kernel that hangs), the other gets no
 * trial before it has, so that nothing is timed beside it; compiling goes on. After 10 minutes
 * pool_wait fails. pool_free does not wait for it: what is killed runs nothing more.
 */
#ifndef EVOTILE_TRIAL_POOL_H
#define EVOTILE_TRIAL_POOL_H

#include "device/device.h"
#include "trial/trial.h"

/* The pool copies the strings. */
struct pool_settings {
    const char *program;         /* evotile itself */
    const char *config_path;     /* a file that workers read */
    const char *template_folder; /* the one to use, whatever the config says */
    const char *device;          /* cuda:0, emulated:sm_89, auto */
    int compile_workers;         /* 0: device workers compile for themselves */
    int device_workers;          /* 0: one, or one a core when the device is emulated */
    double deadline_s;           /* of either stage; 0: those above */
};

struct pool;

/* Starts the workers and waits until the first device worker has its device. Fails with the
   worker's own words when it cannot. */
struct pool *pool_new(const struct pool_settings *settings, struct error *error);
/* Ends the workers, however busy. */
void pool_free(struct pool *pool);

const struct device_info *pool_device(const struct pool *pool);

/* How many trials in flight keep every worker busy. */
int pool_capacity(const struct pool *pool);
int pool_in_flight(const struct pool *pool);
/* Workers that had to be replaced because they died or were killed. */
int pool_restarts(const struct pool *pool);

/* What a worker does, for whoever looks on. */
enum pool_state { POOL_STARTING, POOL_IDLE, POOL_BUSY, POOL_LEAVING };
struct pool_worker {
    const char *role; /* "compile" or "device" */
    enum pool_state state;
    int64_t trial;  /* while busy */
    double since_s; /* it has been in that state */
};
/* Fills at most `limit`; returns how many workers there are. */
int pool_look(const struct pool *pool, struct pool_worker *workers, int limit);

/* While paused, no trial is given to a device worker; who has one ends it, and compiling goes on.
   Trials that wait keep waiting, so that fewer than pool_in_flight may come to an end. */
void pool_pause(struct pool *pool, bool paused);

/* Takes over what the request owns. Never blocks. */
void pool_submit(struct pool *pool, const struct trial_request *request);

/* 1 with a result, which the caller releases; 0 when none came in time; -1 when no worker can go on
   (a template that no longer loads, a GPU that is gone). */
int pool_wait(struct pool *pool, double timeout_s, struct trial_result *result,
              struct error *error);

#endif
