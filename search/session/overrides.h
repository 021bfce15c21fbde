/* overrides: settings of a run that differ from its config, kept in the store for `resume`.
 *
 * The overrides are the options of the command line, and the start genomes and predictions of each
 * goal. A part of session.c. Functions return -1 with `error` filled on failure.
 *
 *     overrides_apply(session);                                 // run
 *     int status = session_create_store(session, &error);
 *
 *     status = overrides_restore(session, &error);              // resume, with its store open
 *     status = overrides_read_start(session, goal, &error);     // for each goal
 *     status = overrides_save(session, &error);
 */
#ifndef EVOTILE_SESSION_OVERRIDES_H
#define EVOTILE_SESSION_OVERRIDES_H

#include "session/session.h"

/* Overwrites the config's values with those of the command line. */
void overrides_apply(struct session *session);

/* Creates the run's store with all overrides; call it once workers and evolutions are there. */
int session_create_store(struct session *session, struct error *error);

/* Applies the overrides that the run stores, then those of the present command line. */
int overrides_restore(struct session *session, struct error *error);

/* Fills `seeds` and `predicted` of a goal from the store. */
int overrides_read_start(struct session *session, int goal, struct error *error);

/* Stores the overrides of the present command line, so that the next resume uses them. */
int overrides_save(struct session *session, struct error *error);

#endif
