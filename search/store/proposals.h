/*
 * proposals: what a run keeps of each solution that a proposer wrote for it: the question, the
 * answer, what was made of it, how it was judged and what was decided. A row is written whole each
 * time one of these is known, before it is used.
 *
 *     struct store_proposal proposal = {.number = 1, .parent = "start", .request = "{...}"};
 *     store_begin(store, error);
 *     store_put_proposal(store, &proposal, error);
 *     store_commit(store, error);
 *     int status = store_proposals(store, row, context, error);
 *
 * Errors are those of store.h.
 */
#ifndef EVOTILE_STORE_PROPOSALS_H
#define EVOTILE_STORE_PROPOSALS_H

#include "store/store.h"

enum { NO_GOAL = -1 };

/* What is not known yet is NULL, NO_GOAL, STORE_NO_TRIAL, 0 or NaN. Texts are the caller's. */
struct store_proposal {
    int64_t number;       /* from 1 */
    const char *parent;   /* the solution that it changes */
    const char *other;    /* the second parent of a crossover */
    const char *request;  /* the line that the proposer got */
    const char *answer;   /* the line that came back */
    const char *solution; /* the name of what was made of it; of a genome, its parent's */
    const char *hash;     /* of that solution's files, as 32 digits */
    const char *genome;   /* of a proposal that changes only the genome */
    const char *hypothesis;
    const char *diff;        /* what it changes, as `diff -u` prints it */
    int goal;                /* of the solution, once it passed */
    int64_t trial;           /* the first one: of the default genome, or of `genome` */
    const char *judged;      /* that trial as a JSON object */
    const char *verdict;     /* of that trial; "refused" without one */
    const char *reason;      /* why it was refused; after a duel, what decided */
    double first_us;         /* the first trial's score */
    double score_us;         /* after tuning */
    double ratio, low, high; /* the parent's time over its own, with the interval; a prediction has
                                no interval, and both bounds are the ratio */
    const char *decision;    /* revert, keep or promote */
    int64_t turn;            /* decisions in their order, from 1 */
    int64_t prompt_tokens, completion_tokens;
    double cost;
    double asked, answered, decided; /* times */
};

/* Adds or replaces the row of its number, within a batch. */
int store_put_proposal(struct store *store, const struct store_proposal *proposal,
                       struct error *error);

/* Called for each row in the order of their numbers; as store_trial_row. */
typedef int store_proposal_row(void *context, const struct store_proposal *proposal,
                               struct error *error);
/* A run of an earlier version has none. */
int store_proposals(struct store *store, store_proposal_row *row, void *context,
                    struct error *error);

/* Adds a goal after the last one, within a batch. */
int store_add_goal(struct store *store, const char *name, struct error *error);

#endif
