/*
 * session: the search itself, from a run folder: what run and resume share. It joins the halves
 * that do not know each other: evolve/ proposes, trial/ judges, store/ remembers.
 *
 *     struct session session;
 *     if (session_create(&session, "results/demo", config, &settings, &error) == 0)
 *         status = session_search(&session, &error);           // or session_resume before it
 *     session_close(&session);
 *
 * A run folder holds run.db (store/store.h), config.json as it was given, and template/, a copy of
 * the template's bytes: what the run is about cannot change under it. status.json (cmd/bulletin.h)
 * is for who looks on.
 */
#ifndef EVOTILE_CMD_SESSION_H
#define EVOTILE_CMD_SESSION_H

#include "cmd/bulletin.h"
#include "config/config.h"
#include "evolve/evolution.h"
#include "queue/link.h"
#include "store/store.h"
#include "trial/pool.h"

struct session_settings {
    const char *device;                    /* NULL: the config's */
    int64_t trials;                        /* 0: the config's */
    double seconds;                        /* 0: the config's */
    int64_t patience;                      /* 0: the config's */
    double target_us;                      /* 0: the config's */
    double target_ratio;                   /* 0: the config's */
    int64_t seed;                          /* -1: the config's */
    const char *strategy;                  /* NULL: the config's */
    int64_t islands;                       /* 0: the config's */
    int64_t compile_workers;               /* -1: as many as there are cores for */
    struct link_settings queue;            /* url NULL: the workers are of this host */
    double queue_patience_s;               /* 0: the queue's */
    int queue_news;                        /* remote_settings.news */
    const struct device_info *queue_model; /* of a new run's workers; NULL: the first worker's */
    bool nice;                             /* or as the config says */
    int64_t max_temperature_c;             /* 0: the config's */
    bool verbose;                          /* a line a trial */
    const char *seed_genome;               /* cmd/warm.h; NULL: none. Of a new run alone */
    const char *warm_start;
    int64_t predict;  /* genomes to look at before a new run (cmd/foresee.h); 0: none */
    double prefilter; /* of a new run: evolution_settings.prefilter; 0: none */
    bool recording;   /* random genomes, each timed in full and fighting no duel */
};

struct session {
    struct session_settings settings;
    char run_dir[PATH_SIZE];
    struct config *config;
    struct store *store;
    char queue_id[QUEUE_ID_SIZE]; /* empty: the run is on no queue */
    struct pool *pool;            /* NULL: a finished run that was resumed */
    int workers_lock; /* a file descriptor that our workers share: free when the last of them is
                         gone */
    int goal_count;
    struct template *templates[CASES_MAX];
    struct evolution *evolutions[CASES_MAX];
    char *seeds[CASES_MAX];     /* what each began with (cmd/warm.h); NULL: nothing */
    char *predicted[CASES_MAX]; /* what was known of each by then (cmd/foresee.h); NULL: nothing */
    int64_t asked, told;        /* trials */
    int64_t verdicts[VERDICT_COUNT]; /* of those that were told */
    int64_t filtered[CASES_MAX];     /* of those, by goal: they count for no budget */
    int64_t trials_before;           /* of earlier sessions of the run */
    double seconds_before;
    double begun;   /* clock_seconds */
    int to_inspect; /* a goal whose champion is due for compute-sanitizer; -1: none */
    bool batch_open;
    double batch_begun;
    struct publisher *publisher; /* publish.c's; NULL: nothing was told yet */
    struct {
        int64_t trial;
        double when;       /* clock_seconds, 0: in an earlier session */
        int64_t inspected; /* the last that went through compute-sanitizer */
        int crowned;       /* in this session */
    } champions[CASES_MAX];
    double default_us[CASES_MAX];  /* the default genome's score; 0: not known */
    double baseline_us[CASES_MAX]; /* the geometric mean over the goal's cases; 0: none */
    double unraised_us[CASES_MAX]; /* of the goal's best within SMEM_UNRAISED, where the config
                                      raises that; 0: none */
    struct {
        int64_t told;    /* trials of the goal */
        int64_t told_at; /* as it last gained 1 % */
        double score_us; /* its champion's then, or since it was timed again; 0: none yet */
    } gains[CASES_MAX];
};

/* The run's own files: config.json and the template's folder of an existing run. */
int session_files(const char *run_dir, char config_path[PATH_SIZE], char template_folder[PATH_SIZE],
                  struct error *error);

/* The config that a run has kept, for the names of its cases; NULL, with a warning, where there is
   none that can be read: they are numbered then. */
struct config *session_config(struct store *store);

/* The same for who can do without: NULL with `error` filled. */
struct config *session_config_read(struct store *store, struct error *error);

/* The device that a run was begun on, on which its space depends: 1, or 0 where it does not say. */
int session_device(struct store *store, struct device_info *device, struct error *error);

/* Makes the folder and starts the workers. Takes `config` over, also when it fails. */
int session_create(struct session *session, const char *run_dir, struct config *config,
                   const struct session_settings *settings, struct error *error);
/* Rebuilds populations, random states and counters from the stored order of events, and, unless the
   run is finished, starts the workers, after the last of an earlier session's have gone. */
int session_resume(struct session *session, const char *run_dir,
                   const struct session_settings *settings, struct error *error);

/* One hash of all goals' searches: equal states, equal digests. */
struct hash session_digest(const struct session *session);

/* Those that came to an end, what was filtered not among them. */
int64_t session_trials(const struct session *session);

/* Counts a tell of a goal, here and on resume. */
void session_note_tell(struct session *session, int goal, enum verdict verdict);
/* Keeps `gains` after such a tell, and each telling again: what a resumed run repeats. */
void session_note_gain(struct session *session, int goal, bool again);

/* Whether the budget is spent or the space exhausted, so that a search would start nothing. */
bool session_is_finished(const struct session *session);

/* Searches until the budget is spent, the space is exhausted, or a signal comes; then finishes what
   is in flight. 0: done, 1: interrupted. */
int session_search(struct session *session, struct error *error);

/* publish.c: what the run says of itself in its folder, for `watch`. session_publish does so at
   most once a second, and pauses the device workers while another process is on the GPU or it is
   too hot, where that was asked for; session_announce at once, at a turn of the run. */
void session_publish(struct session *session);
void session_announce(struct session *session, enum phase phase, const char *reason);
bool session_is_paused(const struct session *session);
/* Empty where it is not. */
const char *session_pause_reason(const struct session *session);
void session_unpublish(struct session *session);

/* inspect.c: runs a goal's champion under compute-sanitizer, where that is installed and the device
   is a GPU, and warns of what it finds; all goals' at the end of a search. It blocks. */
void session_inspect(struct session *session, int goal);
void session_inspect_all(struct session *session);

/* retime.c: where the driver, NVRTC or our way of measuring is another than that of the
   population's figures, has every member judged and timed anew, the best first; those that fail
   leave. Does nothing where all figures are of the present setting: a second call, or one after a
   kill, does what is left. */
int session_retime(struct session *session, struct error *error);

void session_close(struct session *session);

/* ---- folder.c, for session.c ---- */

/* The name of a template's folder, however it was written: "a/b/", "." */
int session_template_name(const char *folder, char name[PATH_SIZE], struct error *error);
/* The template's folder and the library beside it, into the run's. */
int session_copy_template(const char *from, const char *name, const char *run_dir,
                          struct error *error);
/* Waits until the workers of an earlier session have gone: nobody times beside us. */
int session_lock_workers(struct session *session, struct error *error);
/* Makes the folder and takes the lock on it, so that a second run into it writes nothing. */
int session_claim_folder(struct session *session, const char *run_dir, struct error *error);

/* ---- staff.c, for session.c and enlist.c ---- */

/* As cores and memory allow beside so many devices. */
int session_default_compile_workers(int devices);
/* How many compile workers a crew gets: what was asked for (-1: as cores and memory allow), and
   none where a recording stands in for the compiler. */
int session_compile_workers(const char *config_path, const char *template_folder,
                            const char *devices, int64_t asked, int *workers, struct error *error);

/* A crew on these devices, or, where the settings name one, the workers on a queue. `wanted`: the
   device of a run that is resumed; NULL: whatever there is. */
int session_start_workers(struct session *session, const char *config_path,
                          const char *template_folder, const char *devices,
                          const struct device_info *wanted, struct error *error);

/* ---- search.c, for the session's other files ---- */

/* Writing to the store is gathered in batches. Closing adds a checkpoint; `if_due`: only when it
   has been open for long enough. */
int session_open_batch(struct session *session, struct error *error);
int session_close_batch(struct session *session, bool if_due, struct error *error);
/* 0 or -1 for what a function of the store returned within a batch, which a failure rolls back. */
int session_stored(struct session *session, int64_t status);

/* Who comes near the champion's score fights it on the device; NULL: there is none. */
void session_submit(struct session *session, int64_t number, int goal, const struct genome *genome,
                    const struct member *champion);
/* Whether it would be crowned without having won a duel with this champion: there was another, or
   none, when it was submitted. */
bool session_must_fight(const struct trial_result *result, const struct member *champion);
/* As pool_wait, for the length of a batch; publishes. */
int session_wait(struct session *session, struct trial_result *result, struct error *error);
/* Seconds of searching, in all sessions of the run. */
double session_elapsed(const struct session *session);
/* How many came since the search began: after one nothing is begun, after two all is dropped. */
int session_signals(void);
/* Whether a signal came while the session is paused: what waits in flight is then done on resume.
 */
bool session_must_leave(const struct session *session);

#endif
