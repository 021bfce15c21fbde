/* job_list: a FIFO queue of jobs, each a trial with its request and result. Private to
   the local pool. */
#ifndef EVOTILE_POOL_JOB_LIST_H
#define EVOTILE_POOL_JOB_LIST_H

#include "evaluate/trial.h"

struct job {
    struct job *next;
    struct trial_request request;
    struct trial_result result; /* the compile worker's result, in the end the whole trial's */
    bool is_compiled;
    int losses; /* workers that were killed from outside while they had it */
    int images; /* its file of machine code (pool/image_file.h); -1: none. Owned */
};

/* All zero: empty. */
struct job_list {
    struct job *first, *last; /* `last` counts while `first` is not NULL */
};

void job_list_add(struct job_list *job_list, struct job *job);
void job_list_add_first(struct job_list *job_list, struct job *job);
/* Removes and returns the first job, which the caller then owns; NULL if the list is empty. */
struct job *job_list_pop(struct job_list *job_list);
/* Frees the remaining jobs. */
void job_list_release(struct job_list *job_list);

/* Gives `job` and all after it a goal's new champion, unless a job of the goal has a better one:
   champions only improve, so a lower score is the newer one. */
void job_update_champions(struct job *job, const struct trial_champion *champion);

/* Takes ownership of the request's strings. */
struct job *job_new(const struct trial_request *request);
void job_free(struct job *job);

#endif
