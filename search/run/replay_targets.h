/* replay_targets: earlier measurements that can be repeated: trials of a run, or the cases of an
 * exported kernel. For replay, sanitize, profile and the other verbs that start from one.
 *
 *     struct replay_targets targets;
 *     struct replay_choice choice = replay_choice_default();
 *     int status = replay_targets_read(&targets, "results/demo", &choice, false, &error);
 *     for (int i = 0; status == 0 && i < targets.count; i++)
 *         status = replay_target_genome(&targets, &targets.items[i], info, &error);
 *     replay_targets_release(&targets);          // also after a failure
 */
#ifndef EVOTILE_RUN_REPLAY_TARGETS_H
#define EVOTILE_RUN_REPLAY_TARGETS_H

#include "config/config.h"
#include "evaluate/trial.h"
#include "export/export.h"
#include "run/run_solutions.h"

struct replay_target {
    char name[CASE_NAME_SIZE + 32]; /* for messages */
    struct trial_request request;   /* without its genome: replay_target_genome fills it */
    char genome_mark[20];           /* recorded with an exported kernel; empty: none */
    struct key key;
    double score_us;
};

/* Which trials of a run, and which cases of an exported kernel. `rank` is that of the board of the
   goal's cases: of all its solutions together, or of `solution` alone. */
struct replay_choice {
    int64_t rank, goal;
    const char *solution; /* NULL: all */
};

struct replay_targets {
    const char *from; /* the caller's */
    struct replay_choice choice;
    char *device; /* the run's device; for a kernel without a GPU here, a similar emulated one;
                     NULL: unknown */
    struct config *config;
    char *config_path, *template_folder; /* for workers */
    char *scratch; /* a temporary folder for an exported kernel; empty for a run */
    int count;
    struct replay_target *items; /* room for GOALS_MAX, so that none moves; owned */
};

/* In place of a goal: all cases, those whose board has no such rank left out; or the first ones (of
   an exported kernel all, too). In place of a rank: the champion, which is the winner of the duels
   between the solutions (rival_duels.h), else rank 1. */
enum { REPLAY_ALL_GOALS = -1, REPLAY_FIRST_CASES = -2, REPLAY_CHAMPION = -1 };

/* The champion of the first cases. */
struct replay_choice replay_choice_default(void);

/* `from` is the folder of a run or of an exported kernel, and outlives the targets. `exact`: of an
   exported kernel its machine code is judged as it lies in the folder, and a folder that is not
   what was exported is refused (ERROR_REFUSED); else its source is, and a change is a warning.
   Returns 0 or -1. */
int replay_targets_read(struct replay_targets *targets, const char *from,
                        const struct replay_choice *choice, bool exact, struct error *error);

/* The trial of the champion, or of the rank, on the board of a goal's cases; STORE_NO_TRIAL; -2.
   `chosen` is a solution, or ALL_SOLUTIONS. */
int64_t replay_choice_trial(struct store *store, const struct config *config,
                            const struct run_solutions *solutions, int goal, int chosen,
                            int64_t rank, struct error *error);

void replay_targets_release(struct replay_targets *targets);

/* Fills the request's genome, parsed in the space that the template has on this device. Machine
   code that the device can neither run nor compare is left out of the request, with a line that
   says so. */
int replay_target_genome(const struct replay_targets *targets, struct replay_target *target,
                         const struct device_info *device, struct error *error);

/* Of an exported kernel, whose manifest the caller has read: fills sources, machine code (if
   `exact`), key and genome mark of a target for one of its variants. */
int replay_read_variant(const struct replay_targets *targets, const struct manifest *manifest,
                        int variant, bool exact, struct replay_target *target, struct error *error);

/* The name of the target's cases: "B=2,H=8,S=512" or "all 12 cases". */
void replay_target_cases(const struct replay_targets *targets, const struct replay_target *target,
                         char name[CASE_NAME_SIZE]);

#endif
