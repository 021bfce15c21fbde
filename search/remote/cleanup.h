/*
 * cleanup: purges runs from the server. Only the coordinator's NATS user has the permission.
 *
 *     cleanup_queues(connection, id);            // requests and results of an earlier session
 *     cleanup_run(connection, id);               // everything of a run that is over
 *     cleanup_abandoned(connection, id, 600);    // other runs without a description update for
 *                                                // ten minutes; `id` was described just now
 *
 * Messages and keys are purged, not deleted: a deleted key would leave a tombstone. If the server
 * does not answer, the data stays until a coordinator removes abandoned runs. Private to
 * remote_pool.c.
 */
#ifndef EVOTILE_REMOTE_CLEANUP_H
#define EVOTILE_REMOTE_CLEANUP_H

#include "remote/connection.h"

void cleanup_queues(struct connection *connection, const char *id);
void cleanup_run(struct connection *connection, const char *id);

/* Purges runs other than `id` that were silent for `silent_s` by the server's clock; a run without
   a description is as old as its files. Returns how many. */
int cleanup_abandoned(struct connection *connection, const char *id, double silent_s);

#endif
