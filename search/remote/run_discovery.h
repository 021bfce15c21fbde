/*
 * run_discovery: finds the runs that are on a queue, for a worker.
 *
 *     struct run_discovery *discovery = run_discovery_new(connection);
 *     if (run_discovery_find(discovery, &description, &error) == 1) {
 *         ...; // work, and every few seconds:
 *         if (run_discovery_read(discovery, description.id, &update, &error) != 1)
 *             ...; // leave the run
 *         run_description_release(&description);
 *     }
 *     run_discovery_free(discovery);
 *
 * A run is live while its coordinator keeps updating its description: after a minute without an
 * update, by this host's clock, it counts as over.
 */
#ifndef EVOTILE_REMOTE_RUN_DISCOVERY_H
#define EVOTILE_REMOTE_RUN_DISCOVERY_H

#include "remote/messages.h"

struct run_discovery;

struct run_discovery *run_discovery_new(struct connection *connection);
void run_discovery_free(struct run_discovery *discovery);

/* Finds a live run that was not rejected lately. 1: found; 0: there is none; -1: the server has no
   JetStream for this user. Rejects runs that this evotile cannot read, with a warning. */
int run_discovery_find(struct run_discovery *discovery, struct run_description *description,
                       struct error *error);
/* Reads a run's current description. 1: read; 0: the run is over or silent, or the server does not
   answer; -1: the description is invalid. */
int run_discovery_read(struct run_discovery *discovery, const char *id,
                       struct run_description *description, struct error *error);
/* Marks the run as unsuitable for this host for now: it is found again half a minute later. Logs
   the first `error`. */
void run_discovery_reject(struct run_discovery *discovery, const char *id,
                          const struct error *error);

#endif
