/*
 * worker_registry: the workers whose heartbeats the coordinator receives. Private to remote_pool.c.
 *
 *     struct remote_worker *worker = worker_registry_find(&registry, heartbeat.worker);
 *     if (worker != NULL)                                      // last_seen is 0: a new worker
 *         *worker = (struct remote_worker){.heartbeat = heartbeat, .last_seen = clock_seconds()};
 *     vanished += worker_registry_expire(&registry);           // call periodically
 *     worker_registry_release(&registry);
 */
#ifndef EVOTILE_QUEUE_ROSTER_H
#define EVOTILE_QUEUE_ROSTER_H

#include "queue/notice.h"
#include "trial/pool.h"

struct helper {
    struct beat beat; /* the last one */
    double heard;     /* clock_seconds */
    bool refused;     /* gets no work */
};

/* All zero: no workers. */
struct roster {
    int count;
    struct helper *helpers;
};

void roster_release(struct roster *roster);

/* Finds the worker or adds it; NULL: too many workers. Valid until the next find or remove. */
struct helper *roster_find(struct roster *roster, const char *id);
void roster_drop(struct roster *roster, struct helper *helper);
/* Removes workers whose heartbeat timed out. Logs and returns how many of them were accepted. */
int roster_forget(struct roster *roster);

/* Total capacity in trials of the accepted workers; 0: there are none. */
int roster_capacity(const struct roster *roster);
/* Lists the accepted workers' devices, as pool_look does. */
int roster_look(const struct roster *roster, struct pool_worker *workers, int limit);

#endif
