/*
 * left_out: the goals that a search leaves out, because their solution has no valid genome for
 * their cases while another solution has one: a kernel for few rows of a run that has cases of
 * many. A part of session.c.
 *
 * Such a goal keeps its number, its board and its name, but gets no trial. A new run decides it by
 * the spaces and stores why; a resumed one reads what was stored, so that it makes the same choice.
 *
 *     if (session_find_left_out(session, &error) < 0) // fills session->left_out, and says it
 *         return -1;
 *     int searched = session_searched_count(session);
 */
#ifndef EVOTILE_SESSION_LEFT_OUT_H
#define EVOTILE_SESSION_LEFT_OUT_H

#include "session/session.h"

/* After the templates of all goals: decides, or, if the session has a store, reads. An error of the
   user's input if no solution has a valid genome for some cases. Without rivals nothing is left
   out: evolution_new then says that the space is empty. A line on stderr for each solution that is
   left out says of which cases, and why. */
int session_find_left_out(struct session *session, struct error *error);

/* The number of goals that are searched. */
int session_searched_count(const struct session *session);

#endif
