/*
 * terms: what a run goes by beside its config: what the command line said otherwise, and what each
 * goal began with. They are kept in its store, so that `resume` goes by the same.
 *
 *     terms_apply(session);                                     // run
 *     if (terms_create_store(session, &error) < 0) ...
 *
 *     if (terms_restore(session, &error) == 0) ...              // resume, with its store open
 *     if (terms_read_start(session, goal, &error) == 0) ...     // for each goal
 *     if (terms_keep(session, &error) == 0) ...
 *
 * Parts of session.c: those that fail return -1 with `error` filled.
 */
#ifndef EVOTILE_CMD_TERMS_H
#define EVOTILE_CMD_TERMS_H

#include "cmd/session.h"

/* Puts what the command line says in the place of what the config does. */
void terms_apply(struct session *session);

/* Makes the run's store, with all that it goes by: once its workers and evolutions are there. */
int terms_create_store(struct session *session, struct error *error);

/* What the command line of `run` overrode in the config, then what this one's does. */
int terms_restore(struct session *session, struct error *error);

/* Fills seeds and predicted of a goal. */
int terms_read_start(struct session *session, int goal, struct error *error);

/* What was given anew the next resume has too. */
int terms_keep(struct session *session, struct error *error);

#endif
