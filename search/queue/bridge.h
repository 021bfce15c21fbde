/*
 * consumer: pulls one run's requests from the queue, runs them on the local pool and publishes the
 * results: the loop of `evotile worker --queue`.
 *
 *     struct consumer *consumer = consumer_new(connection, &description, pool, &platform);
 *     while (consumer_poll(consumer, true, &error) == 0)   // some milliseconds each
 *         ...;                                             // until the run is over
 *     consumer_free(consumer);
 *
 * Requests are pulled as the pool has room, and acknowledged once the server has stored their
 * results (at-least-once delivery). A request that names files or programs of this host is
 * rejected: a search never needs one.
 */
#ifndef EVOTILE_QUEUE_BRIDGE_H
#define EVOTILE_QUEUE_BRIDGE_H

#include "queue/notice.h"
#include "trial/pool.h"

struct bridge;

/* Borrows its arguments, except `platform`. Results name the worker "HOST/DEVICE". */
struct bridge *bridge_new(struct link *link, const struct description *description,
                          struct pool *crew, const struct queue_place *place);
/* Returns unfinished requests to the queue (negative acknowledgement) for other workers. */
void bridge_free(struct bridge *bridge);

/* Pulls requests (if `pull`), collects the pool's results, publishes and acknowledges. Returns 0,
   or -1 if the pool has failed. While the server is unreachable, it retries. */
int bridge_round(struct bridge *bridge, bool pull, struct error *error);

/* Requests that are pulled and not acknowledged. */
int bridge_held(const struct bridge *bridge);
/* Seconds since it last had a request; 0 while it has one. */
double bridge_idle_s(const struct bridge *bridge);

/* Publishes this worker's heartbeat, at most every two seconds; immediately if `leaving`. */
void bridge_beat(struct bridge *bridge, bool leaving);

#endif
