/*
 * runs: the runs that lie on a queue, as a worker sees them.
 *
 *     struct runs *runs = runs_new(link);
 *     if (runs_find(runs, &description, &error) == 1) {
 *         ... work; now and then: if (runs_read(runs, description.id, &now, &error) != 1) ... leave
 *         description_release(&description);
 *     }
 *     runs_free(runs);
 *
 * A run is there while its coordinator puts its description again and again; a minute without that,
 * by this host's clock, and it is not.
 */
#ifndef EVOTILE_QUEUE_RUNS_H
#define EVOTILE_QUEUE_RUNS_H

#include "queue/notice.h"

struct runs;

struct runs *runs_new(struct link *link);
void runs_free(struct runs *runs);

/* One that is there and was not refused: 1, 0 where there is none; -1 where the server cannot have
   any. Those that this evotile cannot read are refused, with a warning. */
int runs_find(struct runs *runs, struct description *description, struct error *error);
/* 1; 0 where it is over, silent, or the server gone; -1 where it cannot be read. */
int runs_read(struct runs *runs, const char *id, struct description *description,
              struct error *error);
/* Not for this host, for the reason in `error`, of which it warns: it is not found again. */
void runs_refuse(struct runs *runs, const char *id, const struct error *error);

#endif
