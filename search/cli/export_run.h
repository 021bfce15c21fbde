/*
 * export_run: what an export takes from a run: for each case the best solution's champion, or the
 * trial, the rank or the solution that the user names; with the templates of their solutions.
 *
 *     struct export_run run = {.folder = "results/night", .rank = REPLAY_CHAMPION, .trial = -1};
 *     int status = export_run_read(&run, &error);
 *     for (int i = 0; status == 0 && i < run.goal_count; i++)
 *         puts(run.champions[run.goals[i]]->genome);
 *     export_run_release(&run);                       // also after a failure
 */
#ifndef EVOTILE_CLI_EXPORT_RUN_H
#define EVOTILE_CLI_EXPORT_RUN_H

#include "config/config.h"
#include "run/baseline_duel.h"
#include "run/baseline_results.h"
#include "run/replay_targets.h"
#include "store/store.h"

struct export_run {
    const char *folder, *solution; /* solution: whose board has the rank; NULL: all have one */
    int64_t rank,
        trial;      /* rank: or REPLAY_CHAMPION; trial: in place of its cases' rank; -1: none */
    int trial_goal; /* -1: none */
    struct run_solutions solutions;
    struct store *store;
    struct config *config;
    struct device_info device;
    struct template_setting setting; /* for all cases, of the first case's solution */
    int goal_count;
    int goals[CASES_MAX]; /* that are exported: one for each case, or for all of them together */
    /* By goal, of those alone; the trial of the default genome may be NULL, and so may a duel. */
    struct store_trial *champions[GOALS_MAX], *default_trials[GOALS_MAX];
    struct baseline_duel *duels[GOALS_MAX];
    struct key keys[GOALS_MAX];
    struct genome genomes[GOALS_MAX];
    struct template *templates[SOLUTIONS_MAX]; /* by rival, for all cases; NULL: not exported */
    struct baseline_results *baselines;        /* NULL if the run has no baseline */
};

int export_run_read(struct export_run *run, struct error *error);
void export_run_release(struct export_run *run);

/* The goal that is exported for a case. */
int export_run_goal(const struct export_run *run, int case_index);
/* Which solution a goal is of; and its template. */
int export_run_rival(const struct export_run *run, int goal);
struct template *export_run_template(const struct export_run *run, int goal);
/* The case's outcome of one of the goals' trials; NULL without one. */
const struct case_outcome *export_run_outcome(const struct export_run *run,
                                              struct store_trial *const *trials, int case_index);

/* Exports a run's champions to a new folder, as `evotile export RUN --out FOLDER` does, and prints
   nothing (export.c). */
int export_champions(const char *run, const char *folder, struct error *error);

#endif
