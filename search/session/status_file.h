/* status_file: the file status.json in a run's folder, which `watch` displays.
 *
 * A running session replaces the file about once a second. It holds what the store does not: the
 * state of the workers and of the GPU, and what is left of the budget. After a kill it holds the
 * last state that was written.
 *
 *     struct run_status status = run_status_empty();
 *     status.phase = PHASE_SEARCHING;
 *     status_file_write(&status, "results/night", &error);   // atomic; without fsync
 *
 *     if (status_file_read(&status, "results/night", &error) == 1)
 *         printf("%s for %.0f s\n", phase_text(status.phase), status.seconds);
 *
 * Readers take no lock; they see a whole file, the newest or the one before. The struct owns
 * nothing. Unknown figures are negative, and are left out of the file.
 */
#ifndef EVOTILE_SESSION_STATUS_FILE_H
#define EVOTILE_SESSION_STATUS_FILE_H

#include "base/error.h"
#include "base/path.h"
#include "device/nvml.h"
#include "pool/pool.h"

#include <cjson/cJSON.h>

enum phase {
    PHASE_SEARCHING,
    PHASE_REMEASURING, /* remeasuring elites under another driver or NVRTC */
    PHASE_PAUSED,      /* `reason` says why */
    PHASE_SANITIZING,  /* a champion runs under compute-sanitizer; the file is not updated */
    PHASE_PROFILING,   /* a champion runs under ncu; the file is not updated */
    PHASE_FINISHED,    /* the budget is spent, or the space is exhausted */
    PHASE_INTERRUPTED, /* `resume` continues */
    PHASE_FAILED,      /* `reason` says why */
    PHASE_COUNT
};

enum { STATUS_WORKERS_MAX = 64, STATUS_REASON_SIZE = 256 };

struct run_status {
    enum phase phase;
    char reason[STATUS_REASON_SIZE];
    int64_t pid;
    double updated;          /* seconds since 1970 */
    char device[128];        /* name of the device */
    bool predicts;           /* the device is emulated: latencies are predictions */
    int64_t asked, observed; /* trials proposed, and trials with an outcome */
    double trials_per_s;     /* over the last minute */
    int restarts;            /* of workers */
    double seconds;          /* search time of all sessions */
    /* The budget, 0 if there is none; and the patience that is left, in trials. */
    int64_t budget_trials, patience, patience_left;
    double budget_seconds, target_us, target_ratio;
    bool nice;
    int max_temperature_c; /* 0: no limit */
    struct nvml_state gpu; /* negative: unknown */
    int others;            /* processes on the GPU that are not ours; negative: unknown */
    int worker_count;      /* of all workers; at most STATUS_WORKERS_MAX are listed */
    struct pool_worker workers[STATUS_WORKERS_MAX];
};

/* All values zero or unknown. */
struct run_status run_status_empty(void);

/* The phase's display text: "under compute-sanitizer". */
const char *phase_text(enum phase phase);
/* True if the run ended and wrote so: finished, interrupted or failed. */
bool phase_is_over(enum phase phase);

/* To JSON, which the caller owns, and back. Parsing returns -1 if the text is not a status; `name`
   is the file in error messages. */
cJSON *run_status_json(const struct run_status *status);
int run_status_parse(struct run_status *status, const char *name, const char *text,
                     struct error *error);

int status_file_write(const struct run_status *status, const char *run_dir, struct error *error);
/* Returns 1; 0 if the run has no status file (an older evotile made it, or it just started); -1 if
   the file cannot be read. */
int status_file_read(struct run_status *status, const char *run_dir, struct error *error);

#endif
