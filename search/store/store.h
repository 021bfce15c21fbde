/*
 * store: what a run writes down, and all SQL of evotile. A run is a folder with one SQLite file,
 * `run.db`, and, while somebody writes, `run.lock`. It holds what the run was asked (meta, goals),
 * every trial, the champions, a checkpoint; it does not decide anything, and knows no genome but as
 * text.
 *
 * The order of events. A search is a deterministic function of its seed and of the sequence of
 * *ask* (candidate n was issued) and *tell* (the outcome of n came back). Each takes the next event
 * number, from 1 without gaps. To resume is to go through store_events in order, and to issue those
 * of store_in_flight again under their own numbers. A trial may be told again, when its figures
 * hold no more (another driver, another toolkit): that is an event of its own, what it was told
 * before stays at its old event, and everything else that is read gives the last.
 *
 *     struct store *store = store_create("results/demo", &description, error);
 *     store_begin(store, error);
 *     store_ask(store, &ask, error);                                  // event 1
 *     store_tell(store, ask.number, &outcome, &key, "cuda:0", error); // event 2
 *     store_checkpoint(store, digest, counters, error);
 *     store_commit(store, error);
 *     store_close(store);
 *
 * What is certain. What store_commit has returned from survives the death of the process at any
 * moment, SIGKILL included. A loss of power may take the last commits (never part of one, and never
 * what is older). A commit costs some 0.1 ms on a local disk; a caller that tells thousands a
 * second gathers for up to 50 ms. On a network file system, where SQLite's write-ahead log is
 * unsafe, the store takes a rollback journal instead, and warns: there,
 * a commit waits for the disk, and for readers that are in the middle of a reading.
 *
 * Errors. Functions return 0 (or what they say) and -1 with `error` filled. Any failure within a
 * batch rolls the whole batch back: what was there before stays, and the caller stops. Nested
 * batches, writing outside of one, a trial asked twice or told without being asked are our own
 * mistakes: BUG.
 *
 * Units as in outcome.h; times of day are seconds since 1970. A store belongs to one thread, and
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

/* What a run is, written once as it is created. Names of meta in use: config (its text),
   config_path, template, template_hash, objective, seed, device (the first), devices (a list),
   evotile (version), nvrtc, driver, queue_id, islands (how many the search has), and of each of the
   template's rules why ("rule:1"), and of each goal the genomes it began with
   ("seeds:0"); `created` is added. A goal is the set of
   cases that a genome is judged on: one with all cases when the objective is joint, one a case when
   it is per_case. */
struct store_description {
    const struct store_meta *meta;
    int meta_count;
    const char *const *goals; /* their names */
    int goal_count;
};

enum store_mode {
    STORE_READ,  /* beside a writer too, without holding it up */
    STORE_WRITE, /* one process at a time; a second is told the first one's pid */
};

/* Makes the folder and the run in it, open for writing. A folder that holds a run already is an
 * error. */
struct store *store_create(const char *run_dir, const struct store_description *description,
                           struct error *error);

/* Opens a run; one of another format, or one that another process writes (STORE_WRITE), is an
 * error. */
struct store *store_open(const char *run_dir, enum store_mode mode, struct error *error);

/* Whether the folder holds a run: 1 or 0, also where its creation was stopped; -1 where its run.db
   is something else. */
int store_present(const char *run_dir, struct error *error);

/* Rolls back a batch that is still open. NULL is fine. */
void store_close(struct store *store);

const char *store_run_dir(const struct store *store);

int store_goal_count(const struct store *store);
/* Owned by the store. */
const char *store_goal_name(const struct store *store, int goal);

/* 1 and a copy that the caller frees; 0 where there is none of that name, `*value` then NULL. */
int store_meta_get(struct store *store, const char *name, char **value, struct error *error);

/* ---- writing, in batches ---- */

int store_begin(struct store *store, struct error *error);
int store_commit(struct store *store, struct error *error);
/* Drops what came since store_begin, event numbers too. */
void store_rollback(struct store *store);

/* Adds or replaces; within a batch. */
int store_meta_set(struct store *store, const char *name, const char *value, struct error *error);

enum { STORE_NO_TRIAL = -1 };

struct store_ask {
    int64_t number; /* from 0 or 1 up, given by the caller, never twice */
    int goal;
    const char *genome;         /* canonical text */
    int64_t parent_a, parent_b; /* STORE_NO_TRIAL where there is none */
    const char *operator_name;  /* how it was bred */
};

/* Returns the event's number, or -1. */
int64_t store_ask(struct store *store, const struct store_ask *ask, struct error *error);

/* `key` may be NULL where the trial ended before it had one; its genome is the trial's. `worker`
   says where the trial ran, or NULL. Returns the event's number, or -1. */
int64_t store_tell(struct store *store, int64_t number, const struct outcome *outcome,
                   const struct key *key, const char *worker, struct error *error);

/* The same for a trial that was told before. */
int64_t store_tell_again(struct store *store, int64_t number, const struct outcome *outcome,
                         const struct key *key, const char *worker, struct error *error);

/* Marks the trials whose key has another driver, NVRTC or method than `present` as outdated, and
   those that have the same as not: figures of two settings do not mix on the board. */
int store_outdate(struct store *store, const struct key *present, struct error *error);

/* A trial became the champion of its goal, at the last event; or, where it is its own predecessor,
   has another score since it was told again. */
int store_crown(struct store *store, int goal, int64_t trial, int64_t previous, double score_us,
                struct error *error);

/* Where the search stands at the last event: a digest of its state, by which resume checks what it
   rebuilt, and any text of the caller's. Replaces the one before. */
int store_checkpoint(struct store *store, struct hash digest, const char *text,
                     struct error *error);

/* ---- reading ---- */

struct store_trial {
    int64_t number;
    int goal;
    const char *genome;
    int64_t parent_a, parent_b;
    const char *operator_name;
    int64_t asked, told;     /* event numbers; told is 0 while in flight */
    double issued, finished; /* when; finished is 0 while in flight */
    const char *worker;      /* NULL: not said */
    bool has_key;
    struct hash key;               /* store_key_read gives its parts */
    bool outdated;                 /* store_outdate */
    const struct outcome *outcome; /* complete, samples included; NULL while in flight */
};

/* Called a row; what it is given is valid until it returns. 0 goes on, 1 ends the reading, -1 (with
   `error` filled) fails it. It may read other things from the store, not the same kind again. */
typedef int store_trial_row(void *context, const struct store_trial *trial, struct error *error);

/* The last event's number; 0: none yet. */
int64_t store_event_count(struct store *store, struct error *error);

struct store_event {
    int64_t number;
    bool told;                /* else asked */
    bool again;               /* told before: its `told` is this event, as its outcome is */
    struct store_trial trial; /* as it stands now; `outcome` is NULL for an ask */
};
typedef int store_event_row(void *context, const struct store_event *event, struct error *error);

/* The events after number `after`, in order. */
int store_events(struct store *store, int64_t after, store_event_row *row, void *context,
                 struct error *error);

/* Trials asked and not told, in the order asked. */
int store_in_flight(struct store *store, store_trial_row *row, void *context, struct error *error);

/* One trial, freed with store_trial_free. That it is not there is an error. */
struct store_trial *store_trial_read(struct store *store, int64_t number, struct error *error);
void store_trial_free(struct store_trial *trial);

/* Every trial that was told, in the order in which it was told last. */
int store_trials(struct store *store, store_trial_row *row, void *context, struct error *error);

/* The parts of a trial's key into `key` (empty or released), which the caller releases. A trial
   without a key is an error. */
int store_key_read(struct store *store, int64_t trial, struct key *key, struct error *error);

/* The trials of a goal that are ok, timed fully (not raced) and not outdated, best first; at most
   `limit`, or all where it is 0; of kernels that need no more than `smem_bytes` of shared memory a
   block, or of all where that is 0. */
int store_board(struct store *store, int goal, int64_t limit, int smem_bytes, store_trial_row *row,
                void *context, struct error *error);

/* The number of the trial at `rank` of the board, from 1; STORE_NO_TRIAL where nothing has that
   rank (no error), -2 on an error. */
int64_t store_ranked(struct store *store, int goal, int64_t rank, struct error *error);

struct store_counts {
    int64_t asked, told;
    int64_t raced;    /* of those that are ok */
    int64_t outdated; /* of those that were told */
    int64_t verdicts[VERDICT_COUNT];
};

/* Over all goals. */
int store_count(struct store *store, struct store_counts *counts, struct error *error);

/* The trials told after event `after`, in any order, as little of each as it takes to count them:
   for who looks on, and asks again with the greatest event that he saw. */
struct store_news {
    const char *operator_name;
    enum verdict verdict;
    bool raced;
    bool again;   /* told before too, so that he may have counted it */
    int64_t told; /* event number */
};
typedef int store_news_row(void *context, const struct store_news *news, struct error *error);
int store_news(struct store *store, int64_t after, store_news_row *row, void *context,
               struct error *error);

/* How many trials were told that this operator bred, the most first; and how many of them are ok.
   What was filtered is none, here and in what follows. */
typedef int store_operator_row(void *context, const char *operator_name, int64_t told, int64_t ok,
                               struct error *error);
int store_operators(struct store *store, store_operator_row *row, void *context,
                    struct error *error);

/* How the trials of a goal fared that were asked in turns: of so many `turns`, its first has turn
   0, the next 1. Only turns that something was asked in. */
struct store_turn {
    int turn;
    int64_t told, ok, champions; /* trials that are or were champions */
    int64_t best;                /* as store_board has it; STORE_NO_TRIAL: none */
    double score_us;             /* the best's */
};
typedef int store_turn_row(void *context, const struct store_turn *turn, struct error *error);
int store_turns(struct store *store, int goal, int turns, store_turn_row *row, void *context,
                struct error *error);

/* What every trial came to, in the order asked: those that were told and are not outdated.
   `score_us` is 0 unless ok. */
typedef int store_score_row(void *context, int goal, const char *genome, enum verdict verdict,
                            double score_us, struct error *error);
int store_scores(struct store *store, store_score_row *row, void *context, struct error *error);

/* The `limit` commonest reasons for failures, word for word. */
typedef int store_reason_row(void *context, enum verdict verdict, const char *reason, int64_t count,
                             struct error *error);
int store_reasons(struct store *store, int64_t limit, store_reason_row *row, void *context,
                  struct error *error);

struct store_champion {
    int64_t event;
    int goal;
    int64_t trial, previous; /* previous: STORE_NO_TRIAL for the first */
    double score_us;
    double crowned; /* when */
};
typedef int store_champion_row(void *context, const struct store_champion *champion,
                               struct error *error);

/* In the order crowned, of all goals. */
int store_champions(struct store *store, store_champion_row *row, void *context,
                    struct error *error);

struct store_checkpoint {
    int64_t events;
    struct hash digest;
    char *text; /* the caller frees it */
};

/* 1, or 0 where none was written yet. */
int store_checkpoint_read(struct store *store, struct store_checkpoint *checkpoint,
                          struct error *error);

#endif
