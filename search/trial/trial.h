/*
 * trial: one candidate's way from genome to outcome, as it passes between processes.
 *
 * The parent (trial/pool.h) sends a `struct trial_request` to a compile worker and then to a device
 * worker; what comes back is a `struct trial_result`. Messages are JSON, one a line (trial/wire.h).
 */
#ifndef EVOTILE_TRIAL_TRIAL_H
#define EVOTILE_TRIAL_TRIAL_H

#include "base/hash.h"
#include "device/device.h"
#include "genome/genome.h"
#include "outcome/key.h"
#include "outcome/outcome.h"
#include "template/template.h"

/* Version of how we verify and time, a part of every key: raise it when figures would change. */
#define TRIAL_METHOD "warm and cold graphs 4"

enum { GATES_MAX = 16, GATE_TEXT_SIZE = 160 };

/* What one gate on the way said: for `try`, and to learn where the time goes. */
struct gate {
    char name[32];
    bool passed;
    double seconds;
    char text[GATE_TEXT_SIZE];
};

/* Whom a candidate fights a duel with: another genome, or a baseline. */
struct trial_rival {
    bool present;
    struct baseline_command baseline; /* no words: it is a genome, and the rest counts */
    char *implementation;             /* of the baseline; NULL: in each case the fastest. Owned */
    int64_t trial;                    /* its number */
    int goal;
    struct genome genome;
    char *config, *template_folder; /* where it comes from; NULL: the worker's own. Owned */
    char *sources[CASES_MAX];       /* as in a request */
};

/* A goal's champion as it stands: whom its trials are held against. */
struct trial_champion {
    int goal;
    int64_t trial; /* its number */
    struct genome genome;
    double score_us, unraised_us; /* as in a request */
};

struct trial_request {
    int64_t number; /* the trial's; unique in a run */
    int goal;
    struct genome genome;
    bool full;                /* no race: always the full timing */
    bool promote;             /* checked as a champion must be, whatever its score */
    bool watched;             /* small cases only, once each, no timing: a tool watches */
    bool profiled;            /* with that: the goal's own cases instead */
    double champion_us;       /* score of the goal's champion, 0 when there is none: sets race and
                                 deadlines */
    double unraised_us;       /* where the config raises the limit of shared memory, the best score
                                 within SMEM_UNRAISED: what needs no more races against that. 0:
                                 there is none */
    uint64_t seed;            /* of the inputs; differs from one trial to the next */
    char *sources[CASES_MAX]; /* files to compile in place of the template's text, at the index of
                                 a variant's first case; owned, mostly NULL */
    struct trial_rival rival; /* the champion: who comes near its score fights it */
    int duel_blocks;          /* more than 0: the duel is fought however slow the candidate, in at
                                 least so many blocks, and the rival is verified first */
};

/* One case of a duel that was asked for. */
struct bout {
    char against[64];        /* the baseline's implementation; empty where the rival is a genome */
    double ratio, low, high; /* as of the whole duel, for this case alone */
    double p50_us, p90_us;   /* of the candidate's samples in all blocks */
    double rival_p50_us, rival_p90_us;
};

struct trial_result {
    int64_t number;
    int goal;
    struct genome genome;
    bool has_key;
    struct key key;       /* released with trial_result_release */
    int64_t rival;        /* trial number of the rival it fought, -1 without a duel */
    struct key rival_key; /* where the duel was asked for; empty otherwise */
    char baseline[128];   /* the name of the one that it fought; empty: none */
    int bout_count;       /* 0, or one a case */
    struct bout bouts[CASES_MAX];
    char worker[64];
    int gate_count;
    struct gate gates[GATES_MAX];
    struct outcome outcome; /* last, as most of it is room */
};

/* Sets where and how figures come about: the key's device, driver, NVRTC and method. */
void trial_key_place(struct key *key, const struct device_info *device, const char *nvrtc);

void trial_request_release(struct trial_request *request);
/* Sets what the request says of its goal's champion. */
void trial_request_face(struct trial_request *request, const struct trial_champion *champion);
void trial_result_release(struct trial_result *result);

/* All 0. */
void trial_result_clear(struct trial_result *result);
/* Of a request with which nothing was done yet. */
void trial_result_begin(struct trial_result *result, const struct trial_request *request);
/* `to` gets what `from` owns; what it had itself was released, or never there. */
void trial_result_move(struct trial_result *to, struct trial_result *from);

/* Appends a gate; beyond GATES_MAX the last is replaced. */
void trial_gate(struct trial_result *result, const char *name, bool passed, double seconds,
                const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Ends the trial: sets the verdict and, if `reason` is not NULL, its reason. */
void trial_end(struct trial_result *result, enum verdict verdict, const char *reason);

#endif
