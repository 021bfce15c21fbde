/*
 * remote_pool: a pool of workers on other hosts, behind a NATS server (remote/connection.h): a
 * coordinator uses it in place of a local pool.
 *
 *     const struct remote_pool_settings settings = {
 *         .connection = {.url = "nats://localhost:4222"}, .run_dir = "results/night", .id = id};
 *     struct pool *pool = remote_pool_new(&settings, &error);  // waits for a worker
 *     ...                                                      // pool/pool.h
 *     pool_free(pool);                                         // removes the run from the server
 *
 * A submitted request is published until the server has acknowledged it; its result is taken once,
 * even if it arrives several times. While the server is unreachable, the pool waits. The first
 * worker fixes the run's platform (device model, driver, NVRTC and method); workers on another
 * platform get no work. Workers of another device model get a run of their own if a process reads
 * `model_pipe`.
 *
 * With `solution` the pool is a server's: run_dir is the folder of its solutions
 * (template/solution_files.h), and the files of those that a request names are on the queue until
 * it has its result.
 */
#ifndef EVOTILE_REMOTE_REMOTE_POOL_H
#define EVOTILE_REMOTE_REMOTE_POOL_H

#include "pool/pool.h"
#include "remote/messages.h"

struct remote_pool_settings {
    struct connection_settings connection;
    const char *run_dir;  /* with config.json and template/; must outlive the pool */
    const char *solution; /* of a server: the folder of a solution in run_dir/templates/, which
                             workers load first; requests then name others there. NULL: the run of a
                             search */
    const char *name;     /* for workers' logs; NULL: that of run_dir */
    const char *id;       /* of the run: random_id makes one */
    double ack_wait_s;    /* redelivery timeout of a request; 0: 30 */
    const struct device_info
        *wanted_device; /* the workers' device model; NULL: the first worker's */
    int model_pipe; /* write end of a pipe: each new device model is written there once, as a whole
                 struct device_info; 0: none */
};

struct pool *remote_pool_new(const struct remote_pool_settings *settings, struct error *error);

#endif
