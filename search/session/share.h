/*
 * share: the goals of one run learn from each other. A trial at one case says something of the
 * others: whenever the other goals' results have doubled in number, a goal takes the nearest of
 * them as sources (strategy/source.h), beside those that it began with. So their best genomes are
 * tried at it next, if they are new there, and its model expects what they found.
 *
 *     session_share(session, goal, &error);     // before each question of the goal, or its replay
 *
 * It is a function of the events so far, so that a resumed run learns the same at the same places.
 */
#ifndef EVOTILE_SESSION_SHARE_H
#define EVOTILE_SESSION_SHARE_H

#include "session/session.h"

/* Whether the goals of a new run share: its config says so, there are more than one, each with
   cases of its own, and the strategy learns. The run stores it, because goals of earlier versions'
   runs do not. */
bool session_may_share(const struct session *session);

/* How many other goals a goal learns from, the nearest, because each is a model to fit; and the
   results that such a goal has at least. */
enum { SHARED_GOALS_MAX = 4, SHARED_RESULTS_MIN = 4 };

/* Whether a goal learns again: by the results of all others, now and when it last learned (0:
   never). */
bool share_is_due(int64_t others, int64_t shared_at);

/* Does nothing unless the run's goals share. Fails only if the stored sources are damaged. */
int session_share(struct session *session, int goal, struct error *error);

#endif
