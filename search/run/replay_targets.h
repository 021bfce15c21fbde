/* replay_targets: earlier measurements that can be repeated: trials of a run, or the cases of an
 * exported kernel. For replay, sanitize, profile and the other verbs that start from one.
 *
 *     struct replay_targets targets;
 *     int status = replay_targets_read(&targets, "results/demo", 1, 0, false, &error);
 *     for (int i = 0; status == 0 && i < targets.count; i++)
 *         status = replay_target_genome(&targets, &targets.items[i], info, &error);
 *     replay_targets_release(&targets);          // also after a failure
 */
#ifndef EVOTILE_RUN_REPLAY_TARGETS_H
#define EVOTILE_RUN_REPLAY_TARGETS_H

#include "config/config.h"
#include "evaluate/trial.h"

struct replay_target {
    char name[CASE_NAME_SIZE + 32]; /* for messages */
    struct trial_request request;   /* without its genome: replay_target_genome fills it */
    char genome_mark[20];           /* recorded with an exported kernel; empty: none */
    struct key key;
    double score_us;
};

struct replay_targets {
    const char *from; /* the caller's */
    int64_t rank, goal;
    char *device; /* the run's device; for a kernel without a GPU here, a similar emulated one;
                     NULL: unknown */
    struct config *config;
    char *config_path, *template_folder; /* for workers */
    char *scratch; /* a temporary folder for an exported kernel; empty for a run */
    int count;
    struct replay_target *items; /* room for CASES_MAX, so that none moves; owned */
};

/* In place of a goal: every goal, or the best of the first cases (rival_duels.h), which is goal 0
   if the run has one solution. */
enum { REPLAY_ALL_GOALS = -1, REPLAY_BEST_GOAL = -2 };

/* `from` is the folder of a run or of an exported kernel, and outlives the targets. For a run,
   `rank` counts from 1 on the board of `goal`, or, with REPLAY_ALL_GOALS, of each goal that has
   such a rank. `exact`: of an exported kernel its machine code is judged as it lies in the folder,
   and a folder that is not what was exported is refused (ERROR_REFUSED); else its source is, and a
   change is a warning. Returns 0 or -1. */
int replay_targets_read(struct replay_targets *targets, const char *from, int64_t rank,
                        int64_t goal, bool exact, struct error *error);
void replay_targets_release(struct replay_targets *targets);

/* The target that --goal means: the single target of a run, or the case of an exported kernel.
   Returns NULL with `error` if there is none. */
struct replay_target *replay_targets_choose(struct replay_targets *targets, int64_t goal,
                                            struct error *error);

/* Fills the request's genome, parsed in the space that the template has on this device. Machine
   code that the device can neither run nor compare is left out of the request, with a line that
   says so. */
int replay_target_genome(const struct replay_targets *targets, struct replay_target *target,
                         const struct device_info *device, struct error *error);

/* The name of the target's cases: "B=2,H=8,S=512" or "all 12 cases". */
void replay_target_cases(const struct replay_targets *targets, const struct replay_target *target,
                         char name[CASE_NAME_SIZE]);

#endif
