/*
 * remains: takes off the server what runs have put there. The coordinator's user alone may.
 *
 *     remains_clear_queues(link, id);                // what an earlier session asked and was told
 *     remains_clear(link, id);                       // all of the run: it is over
 *     remains_clear_dead(link, id, 600);             // all of others that nobody has described for
 *                                                    // ten minutes; `id` was described just now
 *
 * Messages and keys go without a trace: a deleted key would leave a marker. A server that does not
 * answer keeps what it has, until somebody clears what is dead. Private to queue/remote.c.
 */
#ifndef EVOTILE_QUEUE_REMAINS_H
#define EVOTILE_QUEUE_REMAINS_H

#include "queue/link.h"

void remains_clear_queues(struct link *link, const char *id);
void remains_clear(struct link *link, const char *id);

/* Whether somebody took all of the run away: its files go last. */
bool remains_gone(struct link *link, const char *id);

/* By the server's clock. A run without a description is as old as its files. How many there were.
 */
int remains_clear_dead(struct link *link, const char *id, double silent_s);

#endif
