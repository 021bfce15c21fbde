/* goals: what a session searches: a template and a strategy for each goal. A part of session.c.
 *
 *     const struct session_start start = {0}; // a resumed run
 *     int status = session_start_goals(session, &device, &start, &error);
 *
 *     if (session_open_batch(session, &error) == 0)        // later, in a run of one set of cases
 *         goal = session_add_solution(session, "p7", &seed, &error);
 */
#ifndef EVOTILE_SESSION_GOALS_H
#define EVOTILE_SESSION_GOALS_H

#include "session/session_start.h"

/* Loads the templates and makes the strategies of all goals. */
int session_start_goals(struct session *session, const struct device_info *device,
                        const struct session_start *start, struct error *error);

/* Adds a solution, whose folder lies in the run's template, to the config and to the store, in the
   open batch. `seed` (or NULL) is tried after its default genome. Returns its goal, or -1. */
int session_add_solution(struct session *session, const char *solution, const struct genome *seed,
                         struct error *error);

#endif
