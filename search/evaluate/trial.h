/*
 * trial: one evaluation of a candidate, from genome to outcome, as it passes between processes.
 *
 * The parent (pool/pool.h) sends a `struct trial_request` to a compile worker and then to a device
 * worker, which returns a `struct trial_result`. Messages are JSON, one per line
 * (pool/protocol.h).
 */
#ifndef EVOTILE_EVALUATE_TRIAL_H
#define EVOTILE_EVALUATE_TRIAL_H

#include "base/hash.h"
#include "device/device.h"
#include "evaluate/diagnostics.h"
#include "outcome/key.h"
#include "outcome/outcome.h"
#include "outcome/timing.h"
#include "space/genome.h"
#include "template/template.h"

/* Version of the verification and timing methods, a part of every key: raise it when results
   would change. */
#define TRIAL_METHOD "warm and cold graphs 7"

enum { GATES_MAX = 20, GATE_TEXT_SIZE = 160 };

/* The result of one gate, for `try` and for timing the gates. */
struct trial_gate {
    char name[32];
    bool passed;
    double seconds;
    char text[GATE_TEXT_SIZE];
};

struct evaluation_settings;

/* A duel's opponent: another genome, or a baseline. */
struct trial_opponent {
    bool present;
    struct baseline_command baseline; /* no words: the opponent is a genome, and the fields below
                                         count */
    char *implementation;             /* of the baseline; NULL: the fastest of each case. Owned */
    int64_t trial;                    /* its number */
    int goal;
    struct genome genome;
    char *config, *template_folder; /* the opponent's files; NULL: the worker's own. Owned */
    const struct evaluation_settings *settings;   /* made from them where the trial runs; NULL: the
                                                     evaluator's own. Borrowed, and not sent */
    char *sources[CASES_MAX], *cubins[CASES_MAX]; /* as in a request */
};

/* A goal's current champion, which the goal's trials are compared against. */
struct trial_champion {
    int goal;
    int64_t trial; /* its number */
    struct genome genome;
    double score_us, within_default_smem_us; /* as in a request */
};

/* How far a trial goes, if nothing refuses it. */
enum trial_level {
    LEVEL_TIMED,   /* through all gates that are due */
    LEVEL_STATIC,  /* compiled and loaded: its resources are known, and nothing ran */
    LEVEL_CORRECT, /* verified, with the final checks if the request says `promote`; not timed */
};

struct trial_request {
    int64_t number; /* the trial number; unique in a run */
    int goal;
    struct genome genome;
    bool full;       /* skip the race: always the full timing, in all placements */
    bool no_race;    /* skip the race alone: a full timing, however slow */
    bool promote;    /* run a champion's final checks for any score */
    bool no_promote; /* neither final checks nor a final timing for any score: the trial is of no
                        search */
    bool under_tool; /* small cases only, once each, no timing: runs under a tool */
    bool profiled;   /* with under_tool: the goal's own cases instead */
    enum trial_level level;
    bool diagnosed;                /* the result has diagnostics, and messages name the lines of the
                                      template's own files */
    double champion_us;            /* score of the goal's champion, 0 if there is none: decides the
                                      race and sets deadlines */
    double within_default_smem_us; /* if the config raises the shared-memory limit: the best score
                           within SMEM_DEFAULT_LIMIT, which genomes within that limit race
                           against. 0: none */
    uint64_t seed;                 /* of the inputs; differs between trials */
    char *config, *template_folder; /* the candidate's files, of another solution or problem than
                                       the pool's; NULL: the pool's own. Owned */
    char *sources[CASES_MAX]; /* files to compile in place of the template's source, at the index
                                 of a variant's first case; owned, mostly NULL */
    char *cubins[CASES_MAX];  /* of the same variants: files of machine code to judge in place of
                                 what the compiler makes; a device that runs PTX compares the two */
    struct trial_opponent opponent; /* the champion: a candidate with a score near its own has a
                                 duel against it */
    int duel_blocks;                /* more than 0: a requested duel, of at least so many blocks,
                                       however slow the candidate is; the opponent is verified first */
};

/* One case of a requested duel. */
struct case_result {
    char against[64];        /* the baseline's implementation; empty if the opponent is a genome */
    double ratio, low, high; /* as in duel_outcome, for this case alone */
    double p50_us, p90_us;   /* of the candidate's samples over all blocks */
    double rival_p50_us, rival_p90_us;
    double p90_ratio; /* of the two p90, for the same work */
};

struct trial_result {
    int64_t number;
    int goal;
    struct genome genome;
    bool has_key;
    struct key key;                    /* owned */
    int64_t opponent;                  /* trial number of the duel's opponent, -1 without a duel */
    struct key opponent_key;           /* of a requested duel's opponent; else empty. Owned */
    char baseline[BASELINE_NAME_SIZE]; /* name of the baseline it was compared with; empty: none */
    int case_result_count;             /* 0, or one per case of a requested duel */
    struct case_result *case_results;  /* owned */
    char worker[64];
    int gate_count;
    struct trial_gate gates[GATES_MAX];
    struct outcome outcome;          /* owned */
    struct diagnostics *diagnostics; /* owned; NULL: the request did not ask */
    bool final_checks;               /* it passed the final checks of a champion */
    bool other_code; /* exported machine code was judged that this compiler does not make of its
                        source: the spills in the outcome are not its own */
};

/* Sets the parts of the key that describe the environment: device, driver, NVRTC and method. */
void trial_key_set_environment(struct key *key, const struct device_info *device, const char *nvrtc,
                               enum regime regime);
/* How trials on the device are verified and timed. */
const char *trial_method(const struct device_info *device, enum regime regime);

void trial_request_release(struct trial_request *request);
/* Sets the request's fields about its goal's champion. */
void trial_request_set_champion(struct trial_request *request,
                                const struct trial_champion *champion);

/* Frees what the result owns and sets everything to 0. Accepts a zeroed result. */
void trial_result_release(struct trial_result *result);
/* Initialises the result of a request, with no gates yet; it must own nothing. */
void trial_result_init(struct trial_result *result, const struct trial_request *request);
/* Moves `from` to `to`, which must own nothing; `from` is zeroed. */
void trial_result_move(struct trial_result *to, struct trial_result *from);
/* Replaces the case results by `count` zeroed ones. */
void trial_result_set_case_results(struct trial_result *result, int count);

/* Appends a gate; beyond GATES_MAX it replaces the last one. */
void trial_add_gate(struct trial_result *result, const char *name, bool passed, double seconds,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Ends the trial: sets the verdict and, if `reason` is not NULL, its reason. */
void trial_set_verdict(struct trial_result *result, enum verdict verdict, const char *reason);

#endif
