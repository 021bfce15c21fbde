/* session: one search in one run folder; the engine behind the verbs `run` and `resume`.
 *
 * A session joins three parts that do not include each other: the strategy proposes genomes (ask),
 * the worker pool evaluates them, and the store records every event (tell). The parent process
 * never initialises CUDA: all compilation and timing happens in worker processes.
 *
 *     struct session session;
 *     int status = session_create(&session, "results/demo", config, &settings, &error);
 *     if (status == 0)
 *         status = session_search(&session, &error);     // 0: done, 1: interrupted, -1: failed
 *     session_close(&session);                           // also after a failure
 *
 * To continue a run, call session_resume in place of session_create.
 *
 * There are no generations: the pool is kept full, and each result changes what is proposed next.
 * docs/architecture.md has the life of a trial, docs/formats.md the files of a run folder.
 *
 * A killed run loses only trials in flight: `resume` replays the stored events through the
 * strategy, compares the result with the digest of the last checkpoint, and submits the trials
 * without an outcome again.
 *
 * Unless a function says otherwise, it returns 0, or -1 with `error` filled. A session is used by
 * one thread.
 */
#ifndef EVOTILE_SESSION_SESSION_H
#define EVOTILE_SESSION_SESSION_H

#include "config/change.h"
#include "pool/local_pool.h"
#include "remote/connection.h"
#include "run/run_dir.h"
#include "session/rivals.h"
#include "session/status_file.h"
#include "store/store.h"
#include "strategy/evolution.h"

struct session;

/* What the command line says about one session. The settings of the run are in its config. Pointers
   are the caller's and outlive the session. */
struct session_settings {
    int64_t compile_workers;               /* -1: as many as cores and memory allow */
    struct connection_settings queue;      /* url NULL: the workers run on this host */
    double queue_patience_s;               /* heartbeat timeout of a remote worker; 0: default */
    int queue_model_pipe;                  /* writing end of a pipe: the remote pool writes each
                                        device model there that a worker has; 0: none */
    const struct device_info *queue_model; /* device model of a new run on a queue; NULL: that of
                                              the first worker */
    bool verbose;                          /* log one line per trial */
    const char *devices; /* where a resumed run goes on; NULL: on the devices that it began on. A
                            new run's are in its config */
    /* The rest applies to new runs only; a resumed run reads it from its store. */
    const char *seed_genome; /* genomes to start from (warm_start.h); NULL: none */
    const char *warm_start;  /* earlier runs to start from (warm_start.h); NULL: none */
    int64_t predict;         /* genomes to predict before the search (predict_start.h); 0: none */
    bool recording;          /* `record`: random genomes, each timed in full, no duels */
    /* Called before the workers start, with the run's config and template in their places: fills
       solution_config and folders. NULL: nothing does. */
    int (*place_solutions)(void *context, struct session *session, struct error *error);
    void *context;
};

/* The state of a search. Only the session's own files write to it. A goal is one search within the
   run: all cases together (objective "joint") or one case (objective "per_case"). Arrays that are
   indexed by goal have goal_count valid entries. Times are from clock_seconds, in seconds. */
struct session {
    struct session_settings settings;
    char run_dir[PATH_SIZE];
    struct config *config; /* owned */
    char devices[1024];    /* of a resumed run: those that it began on */
    struct store *store;
    char queue_id[QUEUE_ID_SIZE]; /* the run's name on its queue; empty: local workers */
    struct pool *pool;            /* NULL: a finished run was resumed, so nothing was started */
    int workers_lock; /* file descriptor that our workers inherit: the lock is free when the last
                         of them has exited; -1: not taken */
    int goal_count;
    struct template *templates[GOALS_MAX];
    struct evolution *evolutions[GOALS_MAX];
    char *seeds[GOALS_MAX];    /* start genomes of a goal as text (warm_start.h); NULL: none */
    char *sources[GOALS_MAX];  /* what a goal learns from, as text (strategy/source_text.h); NULL:
                                  nothing */
    char *left_out[GOALS_MAX]; /* why no genome of a goal is valid, so that it is left out
                                  (left_out.h); NULL: it is searched */
    bool index_failed;         /* the index of runs cannot be read, and a warning said so */
    bool shares;               /* its goals learn from each other (share.h) */
    int64_t
        shared_at[GOALS_MAX]; /* results of the other goals when the goal last learned from them */
    int64_t next_number;      /* of a trial; a salvaged run lacks some numbers */
    int64_t asked, observed;  /* trials proposed, and trials with an outcome; of all sessions */
    int64_t verdicts[VERDICT_COUNT]; /* of the trials with an outcome */
    int64_t trials_before;           /* `told` at the start of this session */
    double seconds_before;           /* search time of earlier sessions */
    double started_s;                /* when this session's search started */
    int goal_to_sanitize;  /* a goal whose new champion waits for compute-sanitizer; -1: none */
    double batch_opened_s; /* when the store's batch was opened */
    struct status_publisher
        *publisher; /* owned by status_publisher.c; NULL: no status written yet */
    struct {
        int64_t trial;
        double accepted_s;  /* when it was accepted; 0: in an earlier session */
        int64_t sanitized;  /* the last champion that ran under compute-sanitizer */
        int accepted_count; /* champions accepted in this session */
    } champions[GOALS_MAX];
    double default_us[GOALS_MAX];  /* score of the default genome; 0: unknown */
    double baseline_us[GOALS_MAX]; /* the baseline's geometric mean over the cases; 0: none */
    double
        within_default_smem_us[GOALS_MAX]; /* best score within the default shared memory limit
                                   (SMEM_DEFAULT_LIMIT), if the config raises that limit; 0: none */
    struct {
        int64_t observed;     /* trials of the goal with an outcome */
        double seconds;       /* of a device, that they took */
        int64_t last_gain_at; /* `told` when the champion last gained at least 1 % */
        double score_us; /* the champion's score then, or since it was remeasured; 0: none yet */
    } gains[GOALS_MAX];
    struct recent_scores *recent; /* by goal: outcomes, by which rivals share the budget; owned */
    /* Of a run whose solutions are judged apart from what judges them: their config, and by goal
       the solution's folder. NULL: the workers' own. Owned. */
    char *solution_config, *folders[GOALS_MAX];
    struct sent_trial *sent; /* in flight to other folders (session_places.c); owned */
    int sent_count;
};

/* ---- creating, searching, closing ---- */

/* Creates the run folder and starts the workers. Takes ownership of `config`, also on failure; on
   failure nothing of a new folder is left. Refuses a folder that already holds a run. Call
   session_close in either case. */
int session_create(struct session *session, const char *run_dir, struct config *config,
                   const struct session_settings *settings, struct error *error);

/* Makes the changes (change.h) to the run's config, and writes it if there are any. Rebuilds
   populations, random states and counters from the stored events. Starts workers unless
   the run is finished, and waits first until the workers of an earlier session have exited. Fails
   if the template, the device model or the version of evotile no longer matches the run. */
int session_resume(struct session *session, const char *run_dir, const cJSON *changes,
                   const struct session_settings *settings, struct error *error);

/* Searches until the budget is spent, the space is exhausted or a signal arrives, then finishes the
   trials in flight. Returns 0: done, 1: interrupted, -1: failed. Handles SIGINT and SIGTERM while
   it runs: the first signal stops new trials, the second drops those in flight. */
int session_search(struct session *session, struct error *error);

/* The same with another loop, which asks and tells, and returns 0, 1 if it was interrupted, or -1.
   `progress` is its line of progress. */
struct progress;
typedef int session_loop(void *context, struct session *session, struct progress *progress,
                         struct error *error);
int session_search_by(struct session *session, session_loop *loop, void *context,
                      struct error *error);

/* Stops the workers and frees everything. */
void session_close(struct session *session);

/* ---- state ---- */

/* True if the budget is spent or every space exhausted: a search would start nothing. */
bool session_is_finished(const struct session *session);

/* Seconds of searching in all sessions of the run. */
double session_elapsed(const struct session *session);

/* A hash of all goals' strategy states: equal states have equal digests. Stored with each
   checkpoint; resume compares it with the state that it rebuilt. */
struct hash session_digest(const struct session *session);

/* Writes the run's config.json. */
int session_write_config(const struct session *session, struct error *error);

/* ---- start_workers.c ---- */

/* The default number of compile workers beside so many device workers: limited by cores and
   memory, at least 1. */
int default_compile_workers(int devices);

/* Opens a pool on this host: a table for a recorded space, else processes. `settings` needs no
   program and no number of compile workers; `compile_workers` of -1 is the default number. */
struct pool *session_open_local_pool(const struct config *config,
                                     const struct local_pool_settings *settings,
                                     int64_t compile_workers, struct error *error);

/* Fills session->pool: a local pool on `devices`, or, if the settings name a queue, the remote
   workers there. `wanted`: the device model of a resumed run; NULL: any. */
int session_start_workers(struct session *session, const char *config_path,
                          const char *template_folder, const char *devices,
                          const struct device_info *wanted, struct error *error);

/* ---- status_publisher.c: status.json, and pausing ---- */

/* Writes status.json at most once a second; call it often. Also reads the GPUs' state, and pauses a
   device's worker while another process uses that GPU or it is too hot, if the settings ask for
   it. */
void session_publish_status(struct session *session);

/* Changes the phase and writes status.json immediately. */
void session_set_phase(struct session *session, enum phase phase, const char *reason);

/* True while all devices are paused. */
bool session_is_paused(const struct session *session);

/* Why the first device is paused; empty if the session is not paused. */
const char *session_pause_reason(const struct session *session);

/* Frees the publisher; session_close does it. */
void session_free_publisher(struct session *session);

/* ---- sanitize_champion.c ---- */

/* Runs a goal's champion under compute-sanitizer and logs the findings. Does nothing if the tool is
   not installed, the device is not a local GPU, or this champion was checked before. Blocks for
   some seconds; no trial may be in flight. */
void session_sanitize(struct session *session, int goal);

/* The same for every goal's champion, at the end of a search; limited to a tenth of the search's
   time. */
void session_sanitize_all(struct session *session);

/* ---- keep_profiles.c ---- */

/* If the config asks for reports of ncu, warns of what stands in their way: no GPU of this host, or
   no ncu. */
void session_check_profiles(const struct session *session);

/* Keeps a report of a goal's champion (run/kept_profiles.h), if the config asks for them, unless
   there is one. Blocks for some seconds or minutes. Does nothing while a trial is in flight, or the
   session is paused or must end; that there is no report is a warning. */
void session_keep_profile(struct session *session, int goal);

/* ---- index_run.c ---- */

/* Adds the run to the index of runs (run/run_index.h), so that later runs of the template learn
   from it. That it cannot be added is a warning. Recorded spaces and sources that evolve stay out:
   the former are no measurements of this host, the kernels of the latter differ from one trial to
   the next. */
void session_add_to_index(const struct session *session);

/* Whether a new session may learn from the runs of the index. */
bool session_may_use_index(const struct session *session);

/* ---- duel_rivals.c ---- */

/* Compares the champions of rival goals (config.h) in duels, and stores the best of each set of
   cases (run/rival_duels.h). No trial may be in flight. */
int session_duel_rivals(struct session *session, struct error *error);

/* ---- remeasure.c ---- */

/* If the driver, NVRTC or the measuring method differs from that of the stored figures, evaluates
   and times every member of the populations again, the best first; members that fail are dropped.
   Does nothing if all figures are current, so a call after an interrupted one does the rest. */
int session_remeasure(struct session *session, struct error *error);

/* ---- budget.c ---- */

/* False when the budget is spent or every goal is done. */
bool session_has_budget(const struct session *session);

/* The goal of the next trial: of the cases with the fewest trials, or, if the config says so, of
   those that are expected to gain most a second (goal_choice.h), the rival of which most is
   expected (rivals.h); -1 if every space is exhausted or every goal is done. */
int session_next_goal(const struct session *session, const bool *exhausted);

/* Counts an outcome of a goal; on resume, too. */
void session_count_outcome(struct session *session, int goal, const struct outcome *outcome);

/* Updates `gains` after an outcome. `again`: the outcome replaces an earlier one of the same trial
   (remeasure.c), so it counts as neither a trial nor a gain. */
void session_update_gain(struct session *session, int goal, bool again);

/* ---- session_loop.c: for the session's other files ---- */

/* Writes to the store are gathered in transactions ("batches"). Opening does nothing if one is
   open. Closing adds a checkpoint and commits; with `if_due` only when the batch is old enough. */
int session_open_batch(struct session *session, struct error *error);
int session_close_batch(struct session *session, bool if_due, struct error *error);

/* Of a loop: submits the trials that an earlier session left in flight; asks the goal's strategy
   and submits what it proposes (1; 0 if nothing is left to propose; -1); takes a trial's outcome;
   shows the progress with another text behind it. */
int session_resubmit(struct session *session, struct error *error);
int session_ask(struct session *session, int goal, struct error *error);
int session_tell(struct session *session, const struct trial_result *result, struct error *error);
void session_show_progress(const struct session *session, struct progress *progress,
                           const char *more);

/* Submits a trial. With a champion (not NULL), a candidate whose score comes near the champion's
   is compared with it in a duel on the device. */
void session_submit(struct session *session, int64_t number, int goal, const struct genome *genome,
                    const struct member *champion);

/* True if the result would be accepted as champion without having won a duel against this one:
   when it was submitted there was another champion, or none. Submit it again. */
bool session_needs_duel(const struct trial_result *result, const struct member *champion);

/* pool_wait with the batch length as its timeout; writes the status first. Returns 1: a result,
   0: none yet, -1. */
int session_wait(struct session *session, struct trial_result *result, struct error *error);

/* ---- session_places.c ---- */

/* Names the goal's folder in the request, and the goal that it is there; counts it as in flight.
   Does nothing if the workers' own is the goal's. */
void session_place(struct session *session, int goal, struct trial_request *request);
/* The same of an opponent of a candidate of `goal`. */
void session_place_opponent(const struct session *session, int goal, int other,
                            struct trial_opponent *opponent);
/* Submits a duel of the champions of two goals. Returns the number of `goal`'s, which the result
   has. */
int64_t session_submit_duel(struct session *session, int goal, int other, int blocks);
/* The trials of a goal that are in flight to its folder. */
int session_sent_count(const struct session *session, int goal);
/* Restores the goal of a result. */
void session_restore_goal(struct session *session, struct trial_result *result);

/* SIGINT and SIGTERM received since the search started. */
int session_signals(void);

/* True after a second signal, or SIGTERM, whose sender does not wait long: nothing new is started
   once the trials in flight are finished. */
bool session_must_end(void);

/* True if a signal arrived while the session is paused: it then ends without waiting for the
   trials in flight, and resume submits them again. */
bool session_stops_paused(const struct session *session);

#endif
