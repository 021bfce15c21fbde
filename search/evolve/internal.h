/*
 * internal: the state of a run whose sources evolve. Private to evolve/.
 *
 *     struct source_proposal *proposal = evolve_add_proposal(evolve, number);
 *     proposal_set(&proposal->row.hypothesis, "fewer loads");
 *     int status = evolve_put(evolve, proposal, &error);     // within a batch of the session
 */
#ifndef EVOTILE_EVOLVE_INTERNAL_H
#define EVOTILE_EVOLVE_INTERNAL_H

#include "evolve/evolve.h"
#include "evolve/proposer.h"
#include "solutions/solution_store.h"
#include "store/proposals.h"

enum proposal_state {
    PROPOSAL_ASKED,
    PROPOSAL_JUDGING, /* its first trial is in flight: of its solution, apart from the run's goals
                       */
    PROPOSAL_TRYING,  /* the same for a genome: a trial of its parent's goal */
    PROPOSAL_TUNING,
    PROPOSAL_DUELLING,    /* with its parent */
    PROPOSAL_CHALLENGING, /* with the champion */
    PROPOSAL_DECIDED,
};

struct source_proposal {
    struct store_proposal row; /* owns its texts */
    enum proposal_state state;
    int parent_goal;
    double parent_us;       /* when it was asked for */
    cJSON *files;           /* of its solution; NULL: it changes the genome */
    char folder[PATH_SIZE]; /* where it is judged */
    struct template *template;
    struct genome genome; /* of its first trial */
    int attempts;         /* at that trial: a worker may be lost */
    int64_t dueller;      /* the trial that runs a duel */
};

/* A solution of the run, by goal. */
struct evolved_solution {
    char name[NAME_SIZE], hash[HASH_TEXT_SIZE];
    cJSON *files;
    int64_t proposal; /* that made it; 0: the run started with it */
    bool stands;      /* it may be a parent */
    bool exhausted;   /* its strategy has nothing left to propose */
};

struct evolve {
    struct session session;
    struct solution_store *store;
    struct proposer *proposer;
    struct evolved_solution solutions[GOALS_MAX]; /* as many as the session has goals */
    struct source_proposal **proposals;           /* by number, from 1 */
    int count;
    int unsearched; /* solutions in the run's template that are not of the run */
    int champion;   /* a goal; -1: the starts are not tuned yet */
    int64_t turns;
};

/* In the store: the best solution that the run started with, and its score then. */
#define START_META    "evolve_start"
#define START_US_META "evolve_start_us"

/* The verdict of a proposal that no trial judged. */
extern const char refused_verdict[];

/* Replaces a text that the row owns. */
void proposal_set(const char **member, const char *text);

/* ---- evolve.c ---- */

/* The members of a row that are texts, all of which a proposal owns. */
enum { PROPOSAL_TEXTS = 13 };
void proposal_texts(struct store_proposal *row, const char **texts[PROPOSAL_TEXTS]);

struct source_proposal *evolve_add_proposal(struct evolve *evolve, int64_t number);
/* Writes a proposal's row, in the open batch. */
int evolve_put(struct evolve *evolve, const struct source_proposal *proposal, struct error *error);
/* Commits what the session has open, writes the row in a batch of its own, and commits it. */
int evolve_put_now(struct evolve *evolve, const struct source_proposal *proposal,
                   struct error *error);
/* The goal of a solution's name, or -1. */
int evolve_find_solution(const struct evolve *evolve, const char *name);
/* The best score of a goal; 0: none. */
double evolve_score(const struct evolve *evolve, int goal);
/* Records a solution's files and hash. */
int evolve_note_solution(struct evolve *evolve, int goal, const char *folder, int64_t proposal,
                         struct error *error);
/* Whether a solution's trials are done: it had its share, and none is in flight. */
bool evolve_is_tuned(const struct evolve *evolve, int goal);
/* Whether it gets another trial. */
bool evolve_wants_trial(const struct evolve *evolve, int goal);
int64_t evolve_open_count(const struct evolve *evolve);

/* ---- asking.c ---- */

/* Makes, stores and sends the next request. */
int evolve_ask(struct evolve *evolve, struct error *error);
/* Starts what follows from an answer that is stored. */
int evolve_use_answer(struct evolve *evolve, struct source_proposal *proposal, const cJSON *object,
                      struct error *error);
/* Stores an answer and starts what follows from it. */
int evolve_take_answer(struct evolve *evolve, struct proposer_event *event, struct error *error);

/* ---- judging.c ---- */

/* Makes the solution of a stored answer and submits its first trial. */
int evolve_start_judging(struct evolve *evolve, struct source_proposal *proposal,
                         struct error *error);
/* Takes the result of a first trial. */
int evolve_take_judged(struct evolve *evolve, struct source_proposal *proposal,
                       struct trial_result *result, struct error *error);
/* Decides against a proposal that is not judged any further. */
int evolve_refuse(struct evolve *evolve, struct source_proposal *proposal, const char *verdict,
                  const char *reason, struct error *error);

/* ---- deciding.c ---- */

/* Writes the decision, in a word, with what the row says. */
int evolve_decide(struct evolve *evolve, struct source_proposal *proposal, const char *decision,
                  struct error *error);

/* Whether a solution is the best start, or was promoted. */
bool evolve_was_champion(const struct evolve *evolve, int goal);

/* Starts the comparison of a proposal whose solution is tuned, or of a genome that was tried. */
int evolve_compare(struct evolve *evolve, struct source_proposal *proposal, struct error *error);
/* Takes the outcome of a trial of its parent's goal, which the session was given. */
int evolve_take_tried(struct evolve *evolve, struct source_proposal *proposal,
                      const struct outcome *outcome, struct error *error);
int evolve_take_duel(struct evolve *evolve, struct source_proposal *proposal,
                     const struct trial_result *result, struct error *error);
/* Chooses the champion among the solutions that the run started with, once they are tuned. */
int evolve_choose_start(struct evolve *evolve, struct error *error);

/* ---- admitted_shapes.c ---- */

/* Refuses a solution that admits fewer of the problem's probe cases than the one that it changes.
 */
int evolve_check_admitted_shapes(const struct template *changed, const struct template *parent,
                                 const struct template_setting *setting, struct error *refusal);

/* ---- costs.c ---- */

/* Stores what the first trial of a solution that the run started with says of memory accesses, in
   the batch of its outcome. */
int evolve_keep_costs(struct evolve *evolve, const struct trial_result *result,
                      struct error *error);
/* What is known of a solution's memory accesses, an array; the caller frees it. NULL with `error`.
 */
cJSON *evolve_costs(const struct evolve *evolve, int goal, struct error *error);

/* ---- request.c ---- */

/* The request for a proposal as a JSON line; the caller frees it. `parents`: goals. */
char *evolve_request(struct evolve *evolve, int64_t number, const int *parents, int parent_count,
                     struct error *error);

/* ---- parents.c ---- */

/* The parents of a proposal, one or two; their number. */
int evolve_choose_parents(struct evolve *evolve, int64_t number, int parents[2],
                          struct error *error);

/* ---- restoring.c ---- */

/* Rebuilds the state of a resumed run from its rows, and starts again what was in flight. */
int evolve_restore(struct evolve *evolve, struct error *error);
int evolve_restart(struct evolve *evolve, struct error *error);

/* ---- loop.c ---- */

bool evolve_has_budget(const struct evolve *evolve);
session_loop evolve_loop;

#endif
