/* session_store: what a session writes to its store when it begins, and reads again on resume.
 *
 * The settings of the run are in its config.json; the store has facts about its start: device,
 * template, start genomes and predictions of each goal. A part of session.c. Functions return -1
 * with `error` filled on failure.
 *
 *     int status = session_store_create(session, &error);           // run
 *
 *     status = session_store_restore(session, &error);              // resume, with its store open
 *     status = session_store_read_start(session, goal, &error);     // for each goal
 */
#ifndef EVOTILE_SESSION_SESSION_STORE_H
#define EVOTILE_SESSION_SESSION_STORE_H

#include "session/session.h"

/* Creates the run's store; call it once workers and evolutions are there. */
int session_store_create(struct session *session, struct error *error);

/* Fills `recording`, `devices` and, if the config has a target ratio, the figures that it refers
   to. */
int session_store_restore(struct session *session, struct error *error);

/* Within a batch: writes a goal's start genomes; and, after a solution was added, what the store
   says of the solutions. */
int session_store_write_seeds(struct session *session, int goal, struct error *error);
int session_store_write_solutions(struct session *session, struct error *error);

/* Fills `left_out` of all goals. */
int session_store_read_left_out(struct session *session, struct error *error);

/* Fills `seeds` and `sources` of a goal. */
int session_store_read_start(struct session *session, int goal, struct error *error);

#endif
