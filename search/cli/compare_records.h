/*
 * compare_records: runs duels between two recorded kernels on one device, for duel and gate: one
 * duel for every set of cases that both kernels have. In place of the second kernel it takes the
 * baseline, in all cases of the first.
 *
 *     struct record_comparison comparison = {.blocks = 10, .on_result = print, .context = &table};
 *     int status = compare_records_open(&comparison, "results/new", "kernels/old", &error);
 *     if (status == 0)
 *         status = compare_records_run(&comparison, &error); // calls on_result after each duel
 *     compare_records_release(&comparison);                  // also after a failure
 */
#ifndef EVOTILE_CLI_COMPARE_RECORDS_H
#define EVOTILE_CLI_COMPARE_RECORDS_H

#include "run/replay_targets.h"
#include "session/single_trial.h"

struct compared_kernel {
    /* As given: RUN, RUN:RANK, RUN:SOLUTION, RUN:SOLUTION:RANK, an exported kernel's folder or its
       manifest.json. */
    const char *text;
    char from[PATH_SIZE];
    char solution[NAME_SIZE]; /* empty: all */
    int64_t rank;
    struct replay_targets targets;
};

struct record_comparison {
    int64_t goal;           /* of A; REPLAY_ALL_GOALS: every goal with a board */
    int64_t blocks;         /* per round */
    const char *device;     /* NULL: the device of A's record, else auto */
    const char *verify_key; /* of A, and of B if that is an exported kernel too; NULL: none */
    /* For a baseline. python: the interpreter; NULL: as in its command. implementation: NULL: the
       fastest of each case. */
    const char *python, *implementation;
    bool promote; /* A must also pass the final checks of a champion, and exported kernels are
                     exact (run/replay_targets.h) */
    /* Called after each duel. `result` is A's trial, with any verdict. Returns -1 with `error`
       filled to stop. */
    int (*on_result)(void *context, const struct record_comparison *comparison,
                     const struct replay_target *target, const struct trial_result *result,
                     struct error *error);
    void *context;

    struct compared_kernel a, b;
    bool baseline;                     /* B is A's baseline; b.records is empty */
    struct single_trial *single_trial; /* set by compare_records_run */
};

/* B may be the word "baseline", unless a file or folder has that name. */
int compare_records_open(struct record_comparison *comparison, const char *a, const char *b,
                         struct error *error);
void compare_records_release(struct record_comparison *comparison);

/* Starts the device's worker and runs the duels. It is an error if the two have no cases in common
   or if B fails. */
int compare_records_run(struct record_comparison *comparison, struct error *error);

/* The number of B's sets of cases that A does not have, and the name of the first one; a baseline
   has none. */
int compare_records_left_out(const struct record_comparison *comparison,
                             char first[CASE_NAME_SIZE]);

/* The parts in which the keys of A and B differ, as an array of {part, a, b}. The caller frees it.
 */
cJSON *compare_records_key_differences(const struct trial_result *result);

#endif
