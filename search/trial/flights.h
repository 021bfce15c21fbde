/* job_list: a FIFO queue of jobs, each a trial with its request and result. Private to
   pool/local_pool.c. */
#ifndef EVOTILE_TRIAL_FLIGHTS_H
#define EVOTILE_TRIAL_FLIGHTS_H

#include "trial/trial.h"

struct flight {
    struct flight *next;
    struct trial_request request;
    struct trial_result compiled; /* the compile worker's result, in the end the whole trial's */
    bool was_compiled;
};

struct flights {
    struct flight *first, **end;
};

void flights_init(struct flights *flights);
void flights_add(struct flights *flights, struct flight *flight);
/* Removes and returns the first job, which the caller then owns; NULL if the list is empty. */
struct flight *flights_take(struct flights *flights);
/* Frees the remaining jobs. */
void flights_release(struct flights *flights);

/* Takes ownership of the request's strings. */
struct flight *flight_new(const struct trial_request *request);
void flight_free(struct flight *flight);

#endif
