/*
 * journey: one candidate's way through a bench. Private to trial/: bench.c leads it, correct.c
 * verifies, pace.c times, contest.c sets two candidates against each other.
 *
 * Steps return 0 to go on, 1 when the candidate has its verdict, -1 with the error.
 */
#ifndef EVOTILE_TRIAL_JOURNEY_H
#define EVOTILE_TRIAL_JOURNEY_H

#include "trial/bench.h"
#include "trial/measure.h"

/* A second bench on the same device, for a duel with a kernel of another config. */
struct guest {
    char *path; /* of its config */
    struct config *config;
    struct compiler *compiler;
    struct bench *bench;
};

/* The baseline that the last duel was fought with: its process stays, for the next one. */
struct visitor {
    struct baseline_command command;
    struct baseline *baseline; /* NULL: none */
};

/* Whom the last duel was fought with, as machine code in our own memory. */
struct champion {
    bool known; /* images are of this goal's genome */
    int goal;
    struct genome genome;
    struct device_image images[CASES_MAX];
};

struct bench {
    const struct config *config;
    struct device *device;
    struct compiler *compiler;
    struct judge *judge;
    struct device_module *reference, *plain; /* of the config's template */
    struct template *held_out; /* loaded for the config's held-out cases; NULL: not yet, or none */
    struct template *probes[CASES_MAX];
    bool probes_known[CASES_MAX];
    struct watch *watch; /* NULL where there is nothing to see */
    struct guest guest;
    struct visitor visitor;
    struct champion champion;
    uint64_t answer; /* that our own kernels give, before any candidate ran */
};

void bench_close_guest(struct bench *bench);
void bench_forget_champion(struct bench *bench);
void bench_close_visitor(struct bench *bench);
/* What our own kernels answer now (verify_ourselves). */
int bench_answer(struct bench *bench, uint64_t *answer, struct error *error);

struct journey {
    struct bench *bench;
    const struct trial_request *request;
    const struct template *template;
    struct trial_result *result;
    struct error *error;
    const struct device_image *images; /* of the modules, to load them elsewhere; NULL: gone */
    struct device_module *modules[CASES_MAX]; /* at the index of a variant's first case */
    struct measurement *raced; /* by the race, for the full timing; NULL: none kept */
    double deadline_s;         /* of one call */
};

/* Loads the images of every variant and reads the genome's mark back. Where it is another's, the
   cache is damaged: compiles once more, past it. */
int journey_load(struct journey *journey, const struct device_image images[CASES_MAX]);
/* Resources, probe cases, cases: all that comes before timing. */
int journey_verify(struct journey *journey);
/* Of these, correct.c's: probe cases and cases, on random and on hard inputs. */
int journey_correct(struct journey *journey);
/* In place of that, small cases (or, profiled, the goal's own) once each, for a tool that watches
 * how.
 */
int journey_watched(struct journey *journey);
/* What a candidate that would become champion, or whose request says `promote`, must pass too:
   held-out cases, fresh seeds, tensors flush against unmapped memory. After timing and duel. */
int promotion_check(struct journey *journey);
void journey_unload(struct journey *journey);

/* Race and full timing; leaves the score. */
int journey_time(struct journey *journey);
/* The timing that stands on the board and must be found again: of what would become champion, after
   everything else, in several placements. Leaves the score. */
int journey_crown(struct journey *journey);
/* Whether what is known by now would make the candidate champion, or it was asked to pass as one.
 */
bool journey_would_reign(const struct journey *journey);
/* The score that follows from a timing and the duel, if there was one. */
double journey_score(const struct journey *journey, double timed_us);

/* A duel with the request's rival where there is one to fight; leaves the score. */
int journey_duel(struct journey *journey);

/* What verifying and measuring a case take. */
struct verify_case journey_case(const struct journey *journey, const struct template *template,
                                int case_index, struct device_module *module);
struct measure_settings journey_settings(const struct journey *journey, int case_index);
/* Different for every trial, case and input. */
uint64_t journey_seed(const struct journey *journey, int case_index, int input);
/* Ends the trial at a gate, for what happened in one case; returns 1. */
int journey_fail(struct journey *journey, const char *gate, const struct template *template,
                 int case_index, double start, enum verdict verdict, const char *reason);

#endif
