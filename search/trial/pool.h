/*
 * pool: where trials are done. Whoever searches submits candidates and takes results; that they are
 * done by processes of this host (trial/crew.h) or by other hosts is the backend's business.
 *
 *     struct pool *pool = crew_new(&settings, &error);
 *     pool_submit(pool, &request);                             // takes the request over
 *     while (pool_wait(pool, 0.5, &result, &error) == 1) { ...; trial_result_release(&result); }
 *     pool_free(pool);
 *
 * Results come in any order, one for each request, whatever happens to who works on it: a candidate
 * that hangs or kills its worker has the verdict timeout or crashed.
 *
 * All devices of a pool are of one model: they serve one population, and a duel's two sides run on
 * one of them.
 */
#ifndef EVOTILE_TRIAL_POOL_H
#define EVOTILE_TRIAL_POOL_H

#include "device/device.h"
#include "trial/trial.h"

struct pool;

/* Ends the workers, however busy. NULL is fine. */
void pool_free(struct pool *pool);

/* The first of the devices, which stands for all in what depends on the model alone. */
const struct device_info *pool_device(const struct pool *pool);
/* Those that were opened here, set aside or not; 0 where others have them. */
int pool_device_count(const struct pool *pool);
const struct device_info *pool_device_at(const struct pool *pool, int device);

/* The version of NVRTC that compiles for it, where that is not the one of this host; else "". */
const char *pool_nvrtc(const struct pool *pool);

/* How many trials in flight keep its devices busy; it changes with what trials take. */
int pool_capacity(const struct pool *pool);
int pool_in_flight(const struct pool *pool);
/* Workers that had to be replaced because they died or were killed. */
int pool_restarts(const struct pool *pool);

/* What a worker does, for whoever looks on. */
enum pool_state { POOL_STARTING, POOL_IDLE, POOL_BUSY, POOL_LEAVING };
struct pool_worker {
    const char *role; /* "compile" or "device" */
    char host[64];    /* of another host; empty: of this one */
    enum pool_state state;
    int64_t trial;  /* while busy; -1: on another host, which does not say */
    double since_s; /* it has been in that state, or that host was heard of last */
};
/* Fills at most `limit`; returns how many workers there are. */
int pool_look(const struct pool *pool, struct pool_worker *workers, int limit);

/* While a device is paused it is given no trial; who has one ends it, and compiling goes on. Trials
   that wait keep waiting, so that fewer than pool_in_flight may come to an end. */
void pool_pause(struct pool *pool, int device, bool paused);

/* Takes over what the request owns. Never blocks. */
void pool_submit(struct pool *pool, const struct trial_request *request);

/* A goal has another champion. Its trials that no device has begun with are held against that one,
   as if they were submitted now, unless they were with a better one; other hosts hear of it within
   seconds. Only for trials that were submitted with a champion, or for want of one without. */
void pool_crown(struct pool *pool, const struct trial_champion *champion);

/* Hears the workers and gives them what waits, for callers that submit much before they wait; takes
   no result. A worker by itself is not heard while there is a result to take. -1 as of pool_wait.
 */
int pool_tend(struct pool *pool, struct error *error);

/* 1 with a result, which the caller releases; 0 when none came in time; -1 when no worker can go on
   (a template that no longer loads, the last GPU gone). */
int pool_wait(struct pool *pool, double timeout_s, struct trial_result *result,
              struct error *error);

/* ---- for backends: what begins the struct of each ---- */

struct pool_backend {
    void (*free)(struct pool *pool);
    int (*device_count)(const struct pool *pool);
    const struct device_info *(*device_at)(const struct pool *pool, int device);
    int (*capacity)(const struct pool *pool);
    int (*look)(const struct pool *pool, struct pool_worker *workers, int limit);
    void (*pause)(struct pool *pool, int device, bool paused);
    void (*submit)(struct pool *pool, const struct trial_request *request);
    void (*crown)(struct pool *pool, const struct trial_champion *champion);
    int (*tend)(struct pool *pool, struct error *error);
    int (*wait)(struct pool *pool, double timeout_s, struct trial_result *result,
                struct error *error);
};

struct pool {
    const struct pool_backend *backend;
    struct device_info device;
    char nvrtc[32]; /* the version that compiles; empty: as is installed here */
    int in_flight;  /* counted by pool.c */
    int restarts;
};

#endif
