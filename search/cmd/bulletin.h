/*
 * bulletin: what a run says of itself while it goes on, for `watch`: the file status.json in its
 * folder, replaced about once a second. It holds what the store does not: what the workers do, how
 * the GPU is, what is left of the budget. Of a run that was killed it is what was true last.
 *
 *     struct bulletin bulletin = bulletin_empty();
 *     bulletin.phase = PHASE_SEARCHING; ...
 *     bulletin_write(&bulletin, "results/night", &error);    // atomically; the disk is not waited
 * for
 *
 *     if (bulletin_read(&bulletin, "results/night", &error) == 1)
 *         printf("%s for %.0f s\n", phase_words(bulletin.phase), now - bulletin.updated);
 *
 * Who reads locks nothing, and sees one whole bulletin or the one before. Plain values: nothing is
 * to be released. Figures that are not known are negative, and are not in the file.
 */
#ifndef EVOTILE_CMD_BULLETIN_H
#define EVOTILE_CMD_BULLETIN_H

#include "base/error.h"
#include "base/path.h"
#include "device/nvml.h"
#include "trial/pool.h"

#include <cjson/cJSON.h>

enum phase {
    PHASE_SEARCHING,
    PHASE_RETIMING,    /* elites, under another driver or toolkit */
    PHASE_PAUSED,      /* `reason` says why */
    PHASE_INSPECTING,  /* a champion under compute-sanitizer: no bulletin comes meanwhile */
    PHASE_FINISHED,    /* the budget is spent, or the space exhausted */
    PHASE_INTERRUPTED, /* resume goes on */
    PHASE_FAILED,      /* `reason` says why */
    PHASE_COUNT
};

enum { BULLETIN_WORKERS_MAX = 64, BULLETIN_REASON_SIZE = 256 };

struct bulletin {
    enum phase phase;
    char reason[BULLETIN_REASON_SIZE];
    int64_t pid;
    double updated;   /* seconds since 1970 */
    char device[128]; /* its name */
    bool predicts;
    int64_t asked, told;
    double trials_per_s; /* over the last minute */
    int restarts;        /* of workers */
    double seconds;      /* searched so far, in all sessions */
    /* The budget, 0 where there is none; and of the patience what is left. */
    int64_t budget_trials, patience, patience_left;
    double budget_seconds, target_us, target_ratio;
    bool nice;
    int max_temperature_c; /* 0: none */
    struct nvml_state gpu; /* negative: unknown */
    int others;            /* processes on the GPU that are not ours; negative: unknown */
    int worker_count;      /* of all; at most BULLETIN_WORKERS_MAX are listed */
    struct pool_worker workers[BULLETIN_WORKERS_MAX];
};

/* Everything zero or unknown. */
struct bulletin bulletin_empty(void);

/* The phase in the file, and for people: "under compute-sanitizer". */
const char *phase_name(enum phase phase);
const char *phase_words(enum phase phase);
/* Whether the run has come to an end of its own. */
bool phase_is_over(enum phase phase);

/* As JSON, which the caller owns; and back: -1 where it is no bulletin. */
cJSON *bulletin_json(const struct bulletin *bulletin);
int bulletin_parse(struct bulletin *bulletin, const char *name, const char *text,
                   struct error *error);

int bulletin_write(const struct bulletin *bulletin, const char *run_dir, struct error *error);
/* 1; 0: the run has none (it is of an older evotile, or was just begun); -1: it cannot be read. */
int bulletin_read(struct bulletin *bulletin, const char *run_dir, struct error *error);

#endif
