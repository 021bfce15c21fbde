/*
 * roster: the workers that are heard of, as a coordinator sees them. Private to queue/remote.c.
 *
 *     struct helper *helper = roster_find(&roster, beat.worker);    // a new one: heard is 0
 *     if (helper != NULL) *helper = (struct helper){.beat = beat, .heard = clock_seconds()};
 *     vanished += roster_forget(&roster);                           // now and then
 *     roster_release(&roster);
 */
#ifndef EVOTILE_QUEUE_ROSTER_H
#define EVOTILE_QUEUE_ROSTER_H

#include "queue/notice.h"
#include "trial/pool.h"

struct helper {
    struct beat beat; /* its last */
    double heard;     /* clock_seconds */
    bool refused;     /* it gets no work */
};

/* All zero: nobody. */
struct roster {
    int count;
    struct helper *helpers;
};

void roster_release(struct roster *roster);

/* NULL: there are too many. Valid until another is found or dropped. */
struct helper *roster_find(struct roster *roster, const char *id);
void roster_drop(struct roster *roster, struct helper *helper);
/* Drops those of whom nothing was heard for long: how many of them had work, of whom it tells. */
int roster_forget(struct roster *roster);

/* How many trials those that get work can have at once; 0: nobody gets any. */
int roster_capacity(const struct roster *roster);
/* As pool_look, of those. */
int roster_look(const struct roster *roster, struct pool_worker *workers, int limit);

#endif
