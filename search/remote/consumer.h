/*
 * consumer: pulls one run's requests from the queue, runs them on the local pool and publishes the
 * results: the loop of `evotile worker --queue`.
 *
 *     struct consumer *consumer = consumer_new(connection, &description, pool, &platform, NULL);
 *     while (consumer_poll(consumer, true, &error) == 0)   // some milliseconds each
 *         ...;                                             // until the run is over
 *     consumer_free(consumer);
 *
 * Requests are pulled as the pool has room, and acknowledged once the server has stored their
 * results (at-least-once delivery). A request that names files or programs of this host is
 * rejected: a search never needs one. Those of a server name solutions by their hash, which are
 * fetched; a trial whose solution cannot be had is lost, and says why.
 */
#ifndef EVOTILE_REMOTE_CONSUMER_H
#define EVOTILE_REMOTE_CONSUMER_H

#include "pool/pool.h"
#include "remote/messages.h"
#include "remote/solution_cache.h"

struct consumer;

/* Borrows its arguments, except `platform`. Results name the worker "HOST/DEVICE". `solutions` is
   for the run of a server; NULL: of a search. */
struct consumer *consumer_new(struct connection *connection,
                              const struct run_description *description, struct pool *local_pool,
                              const struct platform *platform, struct solution_cache *solutions);
/* Returns unfinished requests to the queue (negative acknowledgement) for other workers. */
void consumer_free(struct consumer *consumer);

/* Pulls requests (if `pull`), collects the pool's results, publishes and acknowledges. Returns 0,
   or -1 if the pool has failed. While the server is unreachable, it retries. */
int consumer_poll(struct consumer *consumer, bool pull, struct error *error);

/* Seconds since it last had a request; 0 while it has one. */
double consumer_idle_s(const struct consumer *consumer);

#endif
