/*
 * remote: a pool of workers on other hosts, behind a NATS server (queue/link.h): what a coordinator
 * has in place of a crew.
 *
 *     const struct remote_settings settings = {
 *         .link = {.url = "nats://localhost:4222"}, .run_dir = "results/night", .id = id};
 *     struct pool *pool = remote_new(&settings, &error);       // waits for a worker
 *     ...                                                      // trial/pool.h
 *     pool_free(pool);                                         // takes the run off the server
 *
 * What is submitted is sent, again until the server has acknowledged it, and its result taken once,
 * however often it comes. A server that is gone is waited for. The first worker decides which
 * device model, driver, NVRTC and method the run has; others than these are not given work.
 * Workers of another model have a run of their own where somebody hears the news of them.
 */
#ifndef EVOTILE_QUEUE_REMOTE_H
#define EVOTILE_QUEUE_REMOTE_H

#include "queue/notice.h"
#include "trial/pool.h"

struct remote_settings {
    struct link_settings link;
    const char *run_dir;              /* with config.json and template/; borrowed for good */
    const char *id;                   /* of the run, as link_id makes one */
    double patience_s;                /* a worker that is silent for so long has vanished; 0: 30 */
    const struct device_info *wanted; /* the workers' model; NULL: the first's */
    int news; /* a pipe's writing end: each model that a worker has is written there, once, as a
                 whole struct; 0: none */
};

struct pool *remote_new(const struct remote_settings *settings, struct error *error);

#endif
