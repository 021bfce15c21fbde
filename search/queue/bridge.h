/*
 * bridge: between a run on the queue and a crew of this host: what `evotile worker --queue` does.
 *
 *     struct bridge *bridge = bridge_new(link, &description, crew, &place);
 *     while (bridge_round(bridge, true, &error) == 0)            // some milliseconds each
 *         ...;                                                   // until the run is over
 *     bridge_free(bridge);
 *
 * Requests are pulled as the crew has room, and held until the server has their results. A request
 * that names files or programs of this host, which a search has no need of, is refused.
 */
#ifndef EVOTILE_QUEUE_BRIDGE_H
#define EVOTILE_QUEUE_BRIDGE_H

#include "queue/notice.h"
#include "trial/pool.h"

struct bridge;

/* Borrows all but `place`. Results bear this host's name before the device's. */
struct bridge *bridge_new(struct link *link, const struct description *description,
                          struct pool *crew, const struct queue_place *place);
/* What is held goes back to the queue, to be done by others. */
void bridge_free(struct bridge *bridge);

/* Pulls (where `pull`), hears the crew, sends and acknowledges. 0, or -1 when the crew cannot go
   on. A server that is gone is waited for. */
int bridge_round(struct bridge *bridge, bool pull, struct error *error);

int bridge_held(const struct bridge *bridge);
/* Seconds since it last held anything. */
double bridge_idle_s(const struct bridge *bridge);

/* Tells the coordinator what this worker is, at most every two seconds; at once when `leaving`. */
void bridge_beat(struct bridge *bridge, bool leaving);

#endif
