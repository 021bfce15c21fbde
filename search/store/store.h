/*
 * store: a run's persistent record, and all SQL of evotile. A run is a folder with one SQLite file,
 * `run.db`, and, while a process writes to it, `run.lock`. It holds the run's settings (meta,
 * goals), every trial, the champions and a checkpoint. It makes no decisions, and treats genomes as
 * text.
 *
 * Events. A search is a deterministic function of its seed and of the sequence of *ask* (candidate
 * n was issued) and *tell* (the outcome of n arrived). Each takes the next event number, from 1
 * without gaps. To resume, replay store_events in order, and issue the trials of store_in_flight
 * again under their own numbers. A trial may be observed again if its measurements no longer apply
 * (another driver or toolkit): that is a new event; the earlier outcome stays at its old event, and
 * all other functions read the latest one.
 *
 *     struct store *store = store_create("results/demo", &description, error);
 *     store_begin(store, error);
 *     store_ask(store, &ask, error);                                  // event 1
 *     store_tell(store, ask.number, &outcome, &key, "cuda:0", error); // event 2
 *     store_checkpoint(store, digest, text, error);
 *     store_commit(store, error);
 *     store_close(store);
 *
 * Durability. A batch that store_commit has committed survives the death of the process at any
 * time, SIGKILL included. A power failure may lose the latest commits, but never part of one and
 * never an older one. A commit costs some 0.1 ms on a local disk; a caller with thousands of trials
 * per second batches them for up to 50 ms. On a network file system, where SQLite's write-ahead log
 * is unsafe, the store uses a rollback journal instead, and warns: there a commit waits for the
 * disk, and for readers in the middle of a query.
 *
 * Errors. Functions return 0 (or what they document), or -1 with `error` filled. Any failure within
 * a batch rolls back the whole batch: committed data stays, and the caller stops. Nested batches,
 * writing outside a batch, asking a trial twice and telling one that was not asked are programming
 * errors: BUG.
 *
 * Units as in outcome.h; times of day are seconds since 1970. A store belongs to one thread and
 * must not be used across a fork.
 */
#ifndef EVOTILE_STORE_STORE_H
#define EVOTILE_STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "outcome/key.h"
#include "outcome/outcome.h"

struct store;

/* ---- a run ---- */

struct store_meta {
    const char *name, *value;
};

/* Describes a run; written once when it is created. Names of meta in use: settings (where they
   are), config_path, template, template_hash, objective, minimise, device (the first), devices (a
   list), evotile (version), nvrtc, driver, queue_id, islands (how many the search has), the reason
   of each template rule ("rule:1"), of sources that evolve: evolves, evolve_start and
   evolve_start_us (the best start after tuning), each goal's start genomes ("seeds:0") and,
   if its search leaves the goal out, why ("left_out:0"); the store adds `created`. A goal is a set
   of cases that genomes are scored on: all cases if the objective is joint, one goal per case if it
   is per_case. */
struct store_description {
    const struct store_meta *meta;
    int meta_count;
    const char *const *goals; /* their names */
    int goal_count;
};

enum store_mode {
    STORE_READ,  /* concurrently with a writer too, without blocking it */
    STORE_WRITE, /* one process at a time; the error of a second one names the first one's pid */
};

/* Creates the folder and the run in it, opened for writing. It is an error if the folder already
   holds a run. */
struct store *store_create(const char *run_dir, const struct store_description *description,
                           struct error *error);

/* Opens a run. It is an error if the run has another format, or, for STORE_WRITE, if another
   process is writing to it. */
struct store *store_open(const char *run_dir, enum store_mode mode, struct error *error);

/* 1: the folder holds a run; 0: it does not, or its creation was interrupted; -1: its run.db is not
   a run. */
int store_holds_run(const char *run_dir, struct error *error);

/* Rolls back an open batch. Accepts NULL. */
void store_close(struct store *store);

const char *store_run_dir(const struct store *store);

/* The name of a description's value "1 2.5": the weights of the cases (struct case_outcome), which
   the outcomes that are read have. Without it all are equal. */
#define WEIGHTS_META "weights"

int store_goal_count(const struct store *store);
/* Owned by the store. */
const char *store_goal_name(const struct store *store, int goal);

/* 1: `*value` is a copy that the caller frees; 0: no such name, `*value` is NULL; -1 on error. */
int store_meta_get(struct store *store, const char *name, char **value, struct error *error);

/* ---- writing, in batches ---- */

int store_begin(struct store *store, struct error *error);
int store_commit(struct store *store, struct error *error);
/* True between store_begin and the commit or rollback. */
bool store_in_batch(const struct store *store);
/* Drops what came since store_begin, event numbers too. */
void store_rollback(struct store *store);

/* Adds or replaces; within a batch. */
int store_meta_set(struct store *store, const char *name, const char *value, struct error *error);

enum { STORE_NO_TRIAL = -1 };

struct store_ask {
    int64_t number; /* from 0 or 1 up, given by the caller, never twice */
    int goal;
    const char *genome;         /* canonical text */
    int64_t parent_a, parent_b; /* STORE_NO_TRIAL: none */
    const char *operator_name;  /* the operator that proposed it */
};

/* Returns the event's number, or -1. */
int64_t store_ask(struct store *store, const struct store_ask *ask, struct error *error);

/* `key` may be NULL if the trial ended before it had one; its genome is the trial's. `worker` names
   where the trial ran, or is NULL. Returns the event's number, or -1. */
int64_t store_tell(struct store *store, int64_t number, const struct outcome *outcome,
                   const struct key *key, const char *worker, struct error *error);

/* The same for a trial that has an outcome already. */
int64_t store_tell_again(struct store *store, int64_t number, const struct outcome *outcome,
                         const struct key *key, const char *worker, struct error *error);

/* Marks trials whose key has another driver, NVRTC or method than `present` as outdated, and all
   others as current: measurements of different environments are not comparable on the board. */
int store_outdate(struct store *store, const struct key *present, struct error *error);

/* Records that a trial became the champion of its goal at the last event; or, if `previous` is the
   trial itself, that its score changed because it was observed again. */
int store_record_champion(struct store *store, int goal, int64_t trial, int64_t previous,
                          double score_us, struct error *error);

/* Stores the state of the search at the last event: a digest, with which resume verifies the state
   that it rebuilt, and a text of the caller. Replaces the previous checkpoint. */
int store_checkpoint(struct store *store, struct hash digest, const char *text,
                     struct error *error);

/* ---- reading ---- */

struct store_trial {
    int64_t number;
    int goal;
    const char *genome;
    int64_t parent_a, parent_b;
    const char *operator_name;
    int64_t asked, observed; /* event numbers; observed is 0 while in flight */
    double issued, finished; /* times; finished is 0 while in flight */
    const char *worker;      /* NULL: unknown */
    bool has_key;
    struct hash key;               /* store_key_read gives its parts */
    bool outdated;                 /* store_outdate */
    const struct outcome *outcome; /* complete, samples included; NULL while in flight */
};

/* Called for each row; its arguments are valid until it returns. Return 0 to continue, 1 to stop,
   -1 (with `error` filled) to fail. It may call other reading functions, but not the same one. */
typedef int store_trial_row(void *context, const struct store_trial *trial, struct error *error);

/* The last event's number; 0: no events. */
int64_t store_event_count(struct store *store, struct error *error);

struct store_event {
    int64_t number;
    bool observed; /* a tell; else an ask */
    bool again;    /* the trial was observed before; `observed` and outcome are of this event */
    struct store_trial trial; /* its current state; `outcome` is NULL for an ask */
};
typedef int store_event_row(void *context, const struct store_event *event, struct error *error);

/* Reads the events after number `after`, in order. */
int store_events(struct store *store, int64_t after, store_event_row *row, void *context,
                 struct error *error);

/* Reads the trials that were asked and not observed, in the order asked. */
int store_in_flight(struct store *store, store_trial_row *row, void *context, struct error *error);

/* Reads one trial, which store_trial_free frees. A missing trial is an error. */
struct store_trial *store_trial_read(struct store *store, int64_t number, struct error *error);
void store_trial_free(struct store_trial *trial);

/* Reads every trial that was observed, in the order of the latest tell. */
int store_trials(struct store *store, store_trial_row *row, void *context, struct error *error);

/* Reads the parts of a trial's key into `key` (empty or released), which the caller releases. A
   trial without a key is an error. */
int store_key_read(struct store *store, int64_t trial, struct key *key, struct error *error);

/* Reads a goal's trials that are ok, fully timed (not raced) and not outdated, best first: at most
   `limit` (0: all), and only kernels with at most `smem_bytes` of shared memory per block (0: any).
 */
int store_board(struct store *store, int goal, int64_t limit, int smem_bytes, store_trial_row *row,
                void *context, struct error *error);

/* The number of the trial at `rank` (from 1) of the board; STORE_NO_TRIAL if no trial has that rank
   (not an error), -2 on an error. */
int64_t store_ranked(struct store *store, int goal, int64_t rank, struct error *error);

/* Consecutive goals that share a board. */
struct goal_range {
    int first, last;
};

/* The same of the trials of all these goals together. */
int store_shared_board(struct store *store, struct goal_range goals, int64_t limit, int smem_bytes,
                       store_trial_row *row, void *context, struct error *error);
int64_t store_shared_ranked(struct store *store, struct goal_range goals, int64_t rank,
                            struct error *error);

struct store_counts {
    int64_t asked, observed;
    int64_t raced;    /* among those that are ok */
    int64_t outdated; /* among those that were observed */
    int64_t verdicts[VERDICT_COUNT];
};

/* Counts trials over all goals. */
int store_count(struct store *store, struct store_counts *counts, struct error *error);

/* The clocks at which the trials of a goal were timed. */
struct store_clocks {
    int64_t trials;        /* with readings */
    int64_t power_limited; /* of these (conditions_power_limited) */
    int sm_mhz_low, sm_mhz_high;
};

/* Reads them for every goal into `clocks`, as many as the run has goals. */
int store_clocks(struct store *store, struct store_clocks *clocks, struct error *error);

/* A summary of a tell, for live counters. */
struct store_tell_summary {
    const char *operator_name;
    enum verdict verdict;
    bool raced;
    bool again;       /* the trial was observed before too, so it may already be counted */
    int64_t observed; /* event number */
};
typedef int store_tell_row(void *context, const struct store_tell_summary *tell,
                           struct error *error);
/* Reads the tells after event `after`, in any order; to poll, pass the greatest event read so far.
 */
int store_tells(struct store *store, int64_t after, store_tell_row *row, void *context,
                struct error *error);

/* Counts observed trials, and ok ones among them, for each operator and goal, in descending order.
   Here and below, filtered and lost trials are not counted. */
typedef int store_operator_row(void *context, const char *operator_name, int goal, int64_t observed,
                               int64_t ok, struct error *error);
int store_operators(struct store *store, store_operator_row *row, void *context,
                    struct error *error);

/* Reads verdict and score of every trial that was observed and is not outdated, in the order asked.
   `score_us` is 0 unless the verdict is ok. */
typedef int store_score_row(void *context, int64_t trial, int goal, const char *genome,
                            enum verdict verdict, double score_us, struct error *error);
int store_scores(struct store *store, store_score_row *row, void *context, struct error *error);

/* Reads the `limit` most common reasons of failures, as exact texts. */
typedef int store_reason_row(void *context, enum verdict verdict, const char *reason, int64_t count,
                             struct error *error);
int store_reasons(struct store *store, int64_t limit, store_reason_row *row, void *context,
                  struct error *error);

struct store_champion {
    int64_t event;
    int goal;
    int64_t trial, previous; /* previous: STORE_NO_TRIAL for the first */
    double score_us;
    double accepted; /* time of acceptance */
};
typedef int store_champion_row(void *context, const struct store_champion *champion,
                               struct error *error);

/* Reads the champions of all goals in the order of acceptance. */
int store_champions(struct store *store, store_champion_row *row, void *context,
                    struct error *error);

struct store_checkpoint {
    int64_t events;
    struct hash digest;
    char *text; /* the caller frees it */
};

/* 1: read; 0: no checkpoint was written yet; -1 on error. */
int store_checkpoint_read(struct store *store, struct store_checkpoint *checkpoint,
                          struct error *error);

#endif
