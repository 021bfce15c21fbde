/*
 * pool: runs trials. The search submits requests and takes results; the backend decides where they
 * run: in processes of this host (pool/local_pool.h) or on other hosts.
 *
 *     struct pool *pool = local_pool_new(&settings, &error);
 *     pool_submit(pool, &request);                             // takes ownership of the request
 *     while (pool_wait(pool, 0.5, &result, &error) == 1)
 *         trial_result_release(&result);
 *     pool_free(pool);
 *
 * Results come in any order, exactly one for each request, even if its worker dies: a candidate
 * that hangs or kills its worker gets the verdict timeout or crashed. A trial whose worker is
 * killed from outside runs again; the second time its verdict is lost.
 *
 * All devices of a pool are of one model: they serve one population, and both sides of a duel run
 * on the same device.
 */
#ifndef EVOTILE_POOL_POOL_H
#define EVOTILE_POOL_POOL_H

#include "device/device.h"
#include "evaluate/trial.h"

#include <poll.h>

struct pool;

/* Ends the workers, busy or not. NULL is allowed. */
void pool_free(struct pool *pool);

/* The first device, which represents all of them in everything that depends on the model only. */
const struct device_info *pool_device(const struct pool *pool);
/* Number of devices opened on this host, quarantined ones included; 0 if the devices are on
   other hosts. */
int pool_device_count(const struct pool *pool);
const struct device_info *pool_device_at(const struct pool *pool, int device);

/* The NVRTC version that compiles for the pool if it is not this host's; else "". */
const char *pool_nvrtc(const struct pool *pool);

/* Number of trials in flight that keeps the devices busy; it changes with the durations of
   trials. */
int pool_capacity(const struct pool *pool);
int pool_in_flight(const struct pool *pool);
/* Number of workers replaced because they died or were killed. */
int pool_restarts(const struct pool *pool);

/* A worker's state, for display. */
enum pool_worker_state { POOL_STARTING, POOL_IDLE, POOL_BUSY, POOL_EXITING };
struct pool_worker {
    const char *role; /* "compile" or "device" */
    char host[64];    /* name of another host; empty: this host */
    enum pool_worker_state state;
    int64_t trial;  /* while busy; -1: not known (on another host) */
    double since_s; /* time in that state, or since the host's last message */
};
/* Fills at most `limit` entries; returns the number of workers. */
int pool_list_workers(const struct pool *pool, struct pool_worker *workers, int limit);

/* A paused device gets no new trial; a trial that is running finishes, and compiling goes on.
   Queued trials keep waiting, so that fewer than pool_in_flight may finish. */
void pool_pause(struct pool *pool, int device, bool paused);

/* Takes ownership of the request's strings. Never blocks. */
void pool_submit(struct pool *pool, const struct trial_request *request);

/* Tells the pool a goal's new champion. Trials of the goal that no device has started are
   compared against it, as if submitted now, unless they have a better one; other hosts get it
   within seconds. Only for trials that were submitted with a champion, or without one because
   there was none. */
void pool_set_champion(struct pool *pool, const struct trial_champion *champion);

/* Reads the workers' messages and dispatches queued trials, for callers that submit many trials
   before they wait; takes no result. With a single worker it does nothing while a result is
   waiting. Returns -1 as pool_wait does. */
int pool_poll(struct pool *pool, struct error *error);

/* Returns 1 with a result, which the caller releases; 0 when none came in time; -1 when no
   worker can go on (a template that no longer loads, the last GPU lost). */
int pool_wait(struct pool *pool, double timeout_s, struct trial_result *result,
              struct error *error);

/* Fills at most `limit` entries whose readiness means that pool_wait has something to do, for a
   caller that waits for other things, too; returns their number. It may still have some without
   one: at least every 0.1 s it must be called. */
int pool_descriptors(const struct pool *pool, struct pollfd *polled, int limit);

/* ---- for backends: the first member of each backend's struct ---- */

/* NULL may stand for: device_count and device_at, without devices of this host; pause, where no
   trial disturbs another; poll, with nothing to dispatch; descriptors, with none. */
struct pool_backend {
    void (*free)(struct pool *pool);
    int (*device_count)(const struct pool *pool);
    const struct device_info *(*device_at)(const struct pool *pool, int device);
    int (*capacity)(const struct pool *pool);
    int (*list_workers)(const struct pool *pool, struct pool_worker *workers, int limit);
    void (*pause)(struct pool *pool, int device, bool paused);
    void (*submit)(struct pool *pool, const struct trial_request *request);
    void (*set_champion)(struct pool *pool, const struct trial_champion *champion);
    int (*poll)(struct pool *pool, struct error *error);
    int (*wait)(struct pool *pool, double timeout_s, struct trial_result *result,
                struct error *error);
    int (*descriptors)(const struct pool *pool, struct pollfd *polled, int limit);
};

struct pool {
    const struct pool_backend *backend;
    struct device_info device;
    char nvrtc[32]; /* the version that compiles; empty: this host's */
    int in_flight;  /* counted by pool.c */
    int restarts;
};

#endif
