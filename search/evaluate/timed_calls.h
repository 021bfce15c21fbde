/*
 * timed_calls: the calls that a measurement's graphs hold, which rotate through its input sets.
 * Where something is done before every call (before.h), it must not be timed, and yet each call of
 * a graph must find it done. So each call of a graph then has its own copy of the outputs that are
 * prepared, and all of them are prepared before a replay; all other tensors are the set's.
 *
 *     struct timed_calls calls;
 *     timed_calls_init(&calls, &buffers, module);          // one call for each set
 *     int launches = timed_calls_add(&calls, 20, NULL, &error);
 *     int rotation = timed_calls_rotation(&calls, launches);   // of a graph's sequences
 *     timed_calls_release(&calls);
 *
 * The calls of a *round* are one for each set; those of the first round write to the sets
 * themselves.
 */
#ifndef EVOTILE_EVALUATE_TIMED_CALLS_H
#define EVOTILE_EVALUATE_TIMED_CALLS_H

#include "evaluate/buffers.h"

struct timed_calls {
    struct buffers *buffers; /* the input sets */
    struct device_module *module;
    struct device_sequence *calls;  /* of all rounds, in order */
    struct device_sequence *before; /* what comes before each; NULL: nothing */
    int rounds;
    bool shared; /* the copies are another's */
    struct buffers
        *more; /* of the rounds behind the first: their own copies, the sets' other tensors
                */
};

/* Nothing needs to be released after a failure. The buffers must outlive the calls. */
void timed_calls_init(struct timed_calls *calls, struct buffers *buffers,
                      struct device_module *module);
void timed_calls_release(struct timed_calls *calls);

/* Adds rounds for graphs of `launches` calls, where calls are prepared. Returns how many calls a
   graph can hold: `launches`, or if the copies took too much memory, or would be of a part of the
   sets, fewer; -1 if the device has no memory. `share_with`: NULL, or the calls of another
   measurement that lives as long, whose copies are used if they are alike. */
int timed_calls_add(struct timed_calls *calls, int launches, const struct timed_calls *share_with,
                    struct error *error);

/* Over how many calls a graph of `launches` rotates. */
int timed_calls_rotation(const struct timed_calls *calls, int launches);

/* Replaces the addresses in `view`, a copy of the sets' buffers, by those of a round. */
void timed_calls_view(const struct timed_calls *calls, int round, struct buffers *view);
/* Returns 1 if the outputs of a set are the same in the first `rounds` rounds, else 0; -1 if the
   device failed. */
int timed_calls_agree(const struct timed_calls *calls, int set, int rounds, struct error *error);

#endif
