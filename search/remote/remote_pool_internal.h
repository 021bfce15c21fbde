/* remote_pool_internal: what the files of the remote pool share. Private to them: remote_pool.c has
   the run and its trials, remote_pool_workers.c its workers. */
#ifndef EVOTILE_REMOTE_REMOTE_POOL_INTERNAL_H
#define EVOTILE_REMOTE_REMOTE_POOL_INTERNAL_H

#include "remote/connection_internal.h"
#include "remote/outbox.h"
#include "remote/remote_pool.h"
#include "remote/worker_registry.h"

enum { MODELS_MAX = 16 };

struct remote_pool {
    struct pool pool; /* first */
    struct connection *connection;
    struct outbox *outbox;
    const char *run_dir;
    struct solution_uploads *uploads; /* of a server; NULL: the run of a search */
    struct run_description description;
    struct device_info wanted_device;
    bool has_wanted_device;
    int model_pipe, model_count;
    struct device_info announced_models[MODELS_MAX]; /* already announced on the pipe */
    natsSubscription *results, *heartbeats;
    struct worker_registry registry;
    struct error last_warning; /* the last warning about an unidentified worker */
    int epoch;                 /* of the connection when the consumers were created */
    /* clock_seconds of the last periodic work, description update, worker, and result (or check
       for lost results) */
    double last_periodic, last_described, last_worker, last_progress;
};

/* Reads the heartbeats that have arrived: the first acceptable worker fixes the run's platform. */
void remote_pool_read_heartbeats(struct remote_pool *remote);
/* Forgets the workers that are silent, and warns if none is left for a minute. */
void remote_pool_expire_workers(struct remote_pool *remote);

#endif
