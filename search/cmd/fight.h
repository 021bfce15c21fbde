/*
 * fight: two recorded kernels against each other on one device, in every set of cases that both
 * have; or a kernel against the baseline, in all of its own: what duel and gate share.
 *
 *     struct fight fight = {.blocks = 10, .told = tell, .context = &mine};
 *     int status = fight_open(&fight, "results/new", "kernels/old", &error);
 *     if (status == 0)
 *         status = fight_all(&fight, &error);       // calls `told` after each
 *     fight_release(&fight);                        // also after a failure
 */
#ifndef EVOTILE_CMD_FIGHT_H
#define EVOTILE_CMD_FIGHT_H

#include "cmd/records.h"
#include "cmd/solo.h"

struct fighter {
    const char *text; /* the caller's: RUN, RUN:RANK, a kernel's folder or its manifest.json */
    char from[PATH_SIZE];
    int64_t rank;
    struct records records;
};

struct fight {
    int64_t goal;       /* of a run; RECORDS_ALL_GOALS: each that has a board */
    int64_t blocks;     /* a round */
    const char *device; /* NULL: A's own, else auto */
    /* For a baseline: the Python to start it with, and which implementation; NULL: as its command
       says, and in each case the fastest. */
    const char *python, *implementation;
    bool promote; /* A is checked as a champion must be */
    /* After each fight; `result` is A's trial, whose verdict may be anything. -1 with `error`
       filled ends it all. */
    int (*told)(void *context, const struct fight *fight, const struct record *record,
                const struct trial_result *result, struct error *error);
    void *context;

    struct fighter a, b;
    bool baseline;     /* B is A's baseline, and b.records is empty */
    struct solo *solo; /* from fight_all on */
};

/* B may be the word "baseline", where no folder has that name. */
int fight_open(struct fight *fight, const char *a, const char *b, struct error *error);
void fight_release(struct fight *fight);

/* Starts the device's worker, then fights. That the two have no cases in common is an error, as is
   a B that fails. */
int fight_all(struct fight *fight, struct error *error);

/* The parts in which the keys of the two differ, as an array of {part, a, b}. */
cJSON *fight_differences(const struct trial_result *result);

#endif
