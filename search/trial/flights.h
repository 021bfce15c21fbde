/* flights: trials on their way through a crew, in the order they came. Private to trial/crew.c. */
#ifndef EVOTILE_TRIAL_FLIGHTS_H
#define EVOTILE_TRIAL_FLIGHTS_H

#include "trial/trial.h"

struct flight {
    struct flight *next;
    struct trial_request request;
    struct trial_result compiled; /* what the compile worker said, at last the whole result */
    bool was_compiled;
};

struct flights {
    struct flight *first, **end;
};

void flights_init(struct flights *flights);
void flights_add(struct flights *flights, struct flight *flight);
/* The first, now the caller's; NULL: there is none. */
struct flight *flights_take(struct flights *flights);
/* Frees all that are left. */
void flights_release(struct flights *flights);

/* Takes the request over. */
struct flight *flight_new(const struct trial_request *request);
void flight_free(struct flight *flight);

#endif
