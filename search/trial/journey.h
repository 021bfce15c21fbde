/*
 * evaluation: the state of one candidate's trial in an evaluator. Private to evaluate/: evaluator.c
 * runs the gates, correctness.c verifies, timing.c times, duel_gate.c runs duels.
 *
 * Gates return 0 to continue, 1 when the candidate has its verdict, -1 with the error.
 */
#ifndef EVOTILE_TRIAL_JOURNEY_H
#define EVOTILE_TRIAL_JOURNEY_H

#include "trial/bench.h"
#include "trial/measure.h"

/* A second evaluator on the same device, for a duel against a kernel of another config. */
struct guest {
    char *path; /* of its config file */
    struct config *config;
    struct compiler *compiler;
    struct bench *bench;
};

/* The baseline process of the last duel; it is kept for the next one. */
struct visitor {
    struct baseline_command command;
    struct baseline *baseline; /* NULL: not running */
};

/* The opponent of the last duel as machine code in host memory. */
struct champion {
    bool known; /* `images` belong to this goal and genome */
    int goal;
    struct genome genome;
    struct device_image images[CASES_MAX];
};

struct bench {
    const struct config *config;
    struct device *device;
    struct compiler *compiler;
    struct judge *judge;
    struct device_module *reference, *plain; /* kernels of the config's template */
    struct template *held_out; /* loaded for the config's held-out cases; NULL: not loaded yet,
                                  or none */
    struct template *probes[CASES_MAX];
    bool probes_known[CASES_MAX];
    struct watch *watch; /* NULL if the device cannot be monitored */
    struct guest guest;
    struct visitor visitor;
    struct champion champion;
    uint64_t answer; /* of evotile's own kernels, before any candidate ran */
};

void bench_close_guest(struct bench *bench);
void bench_forget_champion(struct bench *bench);
void bench_close_visitor(struct bench *bench);
/* Computes the self-test hash of the evaluator's own kernels (verify_self_test). */
int bench_answer(struct bench *bench, uint64_t *answer, struct error *error);

struct journey {
    struct bench *bench;
    const struct trial_request *request;
    const struct template *template;
    struct trial_result *result;
    struct error *error;
    const struct device_image *images; /* of the modules, to load them at other addresses; NULL:
                                          not available */
    struct device_module *modules[CASES_MAX]; /* at the index of the variant's first case */
    struct measurement *raced; /* of the race, kept for the full timing; NULL: none */
    double deadline_s;         /* of one call */
};

/* Loads the images of every variant and reads the genome mark back. If it is another genome's,
   the cache is damaged: compiles once more without the cache. */
int journey_load(struct journey *journey, const struct device_image images[CASES_MAX]);
/* Runs the gates before timing: resources, probe cases, cases. */
int journey_verify(struct journey *journey);
/* The correctness part of evaluation_verify: probe cases and cases, on random inputs and on
   stress inputs. */
int journey_correct(struct journey *journey);
/* Replaces evaluation_check_correctness under a tool: each small case (with `profiled`, each of
   the goal's own cases) once. */
int journey_watched(struct journey *journey);
/* Final checks of a candidate that would become champion or that was requested with `promote`:
   held-out cases, fresh seeds, tensors flush against unmapped memory. Runs after timing and
   duel. */
int promotion_check(struct journey *journey);
void journey_unload(struct journey *journey);

/* Race and full timing; sets the score. */
int journey_time(struct journey *journey);
/* Final timing of a candidate that would become champion, in several placements, after all other
   gates: the leaderboard's figure, which must be reproducible. Sets the score. */
int journey_crown(struct journey *journey);
/* Returns whether the candidate would become champion by its results so far, or its request says
   `promote`. */
bool journey_would_reign(const struct journey *journey);
/* The score that results from a timing and the duel, if there was one. */
double journey_score(const struct journey *journey, double timed_us);

/* A duel against the request's opponent, if there is one and it is due; sets the score. */
int journey_duel(struct journey *journey);

/* The arguments for verifying and for measuring a case. */
struct verify_case journey_case(const struct journey *journey, const struct template *template,
                                int case_index, struct device_module *module);
struct measure_settings journey_settings(const struct journey *journey, int case_index);
/* A seed that differs for every trial, case and input. */
uint64_t journey_seed(const struct journey *journey, int case_index, int input);
/* Ends the trial at a gate because of one case; returns 1. */
int journey_fail(struct journey *journey, const char *gate, const struct template *template,
                 int case_index, double start, enum verdict verdict, const char *reason);

#endif
