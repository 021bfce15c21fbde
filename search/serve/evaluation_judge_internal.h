/*
 * Private to evaluation_judge.c, which starts and ends the judge, and evaluation_steps.c, which
 * takes each candidate from its request to its answer.
 */
#ifndef EVOTILE_SERVE_EVALUATION_JUDGE_INTERNAL_H
#define EVOTILE_SERVE_EVALUATION_JUDGE_INTERNAL_H

#include "pool/profile_process.h"
#include "serve/answer_cache.h"
#include "serve/client_bests.h"
#include "serve/evaluation_judge.h"
#include "serve/judge_pools.h"
#include "serve/proposals.h"
#include "serve/running.h"

struct champion {
    bool present;
    char folder[PATH_SIZE];
    int64_t trial;
    struct genome genome;
    char genome_text[GENOME_TEXT_SIZE];
    double score_us;
};

struct evaluation_judge {
    struct judge judge; /* must be first */
    struct config *config;
    char program[PATH_SIZE]; /* that has the workers */
    char folder[PATH_SIZE];
    bool temporary;
    struct solution_store *store;
    struct judge_pools pools;
    bool is_remote; /* the device's workers are on a queue */
    struct loaded_solutions *solutions;
    struct proposals *proposals;
    struct answer_cache *cache;
    struct client_bests *bests;
    struct champion champions[GOALS_MAX]; /* by goal */
    struct running_list running;
    struct profile_process *profile; /* NULL: none runs */
    struct running *profiled;        /* whose profile it is */
    int64_t next_number;
    uint64_t seed;
    int64_t answers, cached, verdicts[VERDICT_COUNT];
};

/* Starts what a request of type "evaluate" asks for, or answers it. */
void evaluation_start(struct evaluation_judge *judge, struct tasks *tasks, const struct task *task);
/* The same of types "ask" and "tell". */
void evaluation_answer_proposal(struct evaluation_judge *judge, struct tasks *tasks,
                                const struct task *task);
/* Takes a trial's result; the candidate goes on, or is answered. */
void evaluation_take_result(struct evaluation_judge *judge, struct tasks *tasks,
                            struct trial_result *result);
/* Starts a profile that is due once the device is idle, and takes what it counted. */
void evaluation_profile_step(struct evaluation_judge *judge, struct tasks *tasks);

#endif
