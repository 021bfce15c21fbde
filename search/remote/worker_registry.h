/*
 * worker_registry: the workers whose heartbeats the coordinator receives. Private to remote_pool.c.
 *
 *     struct remote_worker *worker = worker_registry_find(&registry, heartbeat.worker);
 *     if (worker != NULL)                                      // last_seen is 0: a new worker
 *         *worker = (struct remote_worker){.heartbeat = heartbeat, .last_seen = clock_seconds()};
 *     vanished += worker_registry_expire(&registry);           // call periodically
 *     worker_registry_release(&registry);
 */
#ifndef EVOTILE_REMOTE_WORKER_REGISTRY_H
#define EVOTILE_REMOTE_WORKER_REGISTRY_H

#include "pool/pool.h"
#include "remote/messages.h"

struct remote_worker {
    struct heartbeat heartbeat; /* the last one */
    double last_seen;           /* clock_seconds */
    bool rejected;              /* gets no work */
};

/* All zero: no workers. */
struct worker_registry {
    int count;
    struct remote_worker *workers;
};

void worker_registry_release(struct worker_registry *registry);

/* Finds the worker or adds it; NULL: too many workers. Valid until the next find or remove. */
struct remote_worker *worker_registry_find(struct worker_registry *registry, const char *id);
void worker_registry_remove(struct worker_registry *registry, struct remote_worker *worker);
/* Removes workers whose heartbeat timed out. Logs and returns how many of them were accepted. */
int worker_registry_expire(struct worker_registry *registry);

/* Total capacity in trials of the accepted workers; 0: there are none. */
int worker_registry_capacity(const struct worker_registry *registry);
/* Lists the accepted workers' devices, as pool_list_workers does. */
int worker_registry_list(const struct worker_registry *registry, struct pool_worker *workers,
                         int limit);

#endif
