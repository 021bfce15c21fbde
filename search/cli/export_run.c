/* Reads what a run has to export, and chooses the solution of each case. */
#include "cli/export_run.h"
#include "run/default_trial.h"
#include "run/run_dir.h"

#include <stdlib.h>
#include <string.h>

static bool is_joint(const struct export_run *run) {
    return run->config->objective == OBJECTIVE_JOINT;
}

int export_run_goal(const struct export_run *run, int case_index) {
    return run->goals[is_joint(run) ? 0 : case_index];
}

int export_run_rival(const struct export_run *run, int goal) {
    return goal % run->solutions.count;
}

struct template *export_run_template(const struct export_run *run, int goal) {
    return run->templates[export_run_rival(run, goal)];
}

const struct case_outcome *export_run_outcome(const struct export_run *run,
                                              struct store_trial *const *trials, int case_index) {
    const struct store_trial *trial = trials[export_run_goal(run, case_index)];
    if (trial == NULL || trial->outcome->verdict != VERDICT_OK)
        return NULL;
    return &trial->outcome->cases[is_joint(run) ? case_index : 0];
}

/* ---- the goals ---- */

/* The trial of --trial must be one that the board could show, of the solution of --solution. */
static int read_named_trial(struct export_run *run, int rival, struct error *error) {
    struct store_trial *trial = store_trial_read(run->store, run->trial, error);
    if (trial == NULL)
        return -1;
    bool shown = trial->outcome != NULL && trial->outcome->verdict == VERDICT_OK &&
                 !trial->outcome->raced && !trial->outdated;
    run->trial_goal = trial->goal;
    store_trial_free(trial);
    if (!shown)
        return error_input(error,
                           "trial %lld of %s is no verified, fully timed kernel: `evotile board %s "
                           "--all` lists its kernels",
                           (long long)run->trial, run->folder, run->folder);
    if (rival >= 0 && export_run_rival(run, run->trial_goal) != rival)
        return error_input(error, "trial %lld of %s is of the solution %s: remove --solution %s",
                           (long long)run->trial, run->folder,
                           config_goal_solution(run->config, run->trial_goal), run->solution);
    return 0;
}

/* The goal of the champion, or of the rank, on the board of the cases; without a such trial the
   first one, whose error the caller gets. */
static int find_ranked_goal(struct export_run *run, int first, int chosen, int *goal,
                            struct error *error) {
    int64_t number = replay_choice_trial(run->store, run->config, &run->solutions, first, chosen,
                                         run->rank, error);
    *goal = first + (chosen == ALL_SOLUTIONS ? 0 : chosen);
    if (number == STORE_NO_TRIAL)
        return 0;
    struct store_trial *trial = number < 0 ? NULL : store_trial_read(run->store, number, error);
    if (trial == NULL)
        return -1;
    *goal = trial->goal;
    store_trial_free(trial);
    return 0;
}

/* For each set of cases: the goal of the named trial, else that of the rank. */
static int choose_goals(struct export_run *run, int chosen, struct error *error) {
    const int count = run->solutions.count;
    run->trial_goal = -1;
    if (run->trial >= 0 && read_named_trial(run, chosen, error) < 0)
        return -1;
    for (int first = 0; first < config_goal_count(run->config); first += count) {
        int *goal = &run->goals[run->goal_count++];
        if (run->trial_goal >= first && run->trial_goal < first + count)
            *goal = run->trial_goal;
        else if (find_ranked_goal(run, first, chosen, goal, error) < 0)
            return -1;
    }
    return 0;
}

/* ---- their champions ---- */

static int read_champion(struct export_run *run, int goal, int chosen, struct error *error) {
    struct store *store = run->store;
    int64_t number = run->trial_goal == goal
                         ? run->trial
                         : replay_choice_trial(store, run->config, &run->solutions, goal, chosen,
                                               run->rank, error);
    if (number == STORE_NO_TRIAL)
        return error_set(error,
                         "%s has no verified kernel of rank %lld for %s: `evotile board %s` lists "
                         "its kernels",
                         run->folder, (long long)(run->rank == REPLAY_CHAMPION ? 1 : run->rank),
                         store_goal_name(store, goal), run->folder);
    if (number < 0)
        return -1;
    run->champions[goal] = store_trial_read(store, number, error);
    if (run->champions[goal] == NULL ||
        store_key_read(store, number, &run->keys[goal], error) < 0 ||
        default_trial_read(store, goal, &run->default_trials[goal], error) < 0 ||
        baseline_duel_read(store, run->champions[goal], &run->duels[goal], error) < 0)
        return -1;
    return genome_parse(&run->genomes[goal], export_run_template(run, goal)->space,
                        run->champions[goal]->genome, error);
}

static int load_solution(struct export_run *run, int goal, struct error *error) {
    struct template **template = &run->templates[export_run_rival(run, goal)];
    struct template_setting setting = run->setting;
    setting.solution = config_goal_solution(run->config, goal);
    if (*template == NULL)
        *template = template_load(run->config->template_folder, &setting, error);
    return *template != NULL ? 0 : -1;
}

int export_run_read(struct export_run *run, struct error *error) {
    run->config = run_dir_read_config(run->folder, error);
    if (run->config == NULL)
        return -1;
    run->store = store_open(run->folder, STORE_READ, error);
    if (run->store == NULL)
        return -1;
    int found = run_dir_device(run->store, &run->device, error);
    if (found <= 0)
        return found == 0
                   ? error_set(error, "%s does not record its device: start a new run", run->folder)
                   : -1;
    int chosen = ALL_SOLUTIONS;
    if (run_solutions_read(run->store, &run->solutions, error) < 0 ||
        (run->solution != NULL &&
         run_solutions_find(&run->solutions, run->folder, run->solution, &chosen, error) < 0) ||
        baseline_results_read(run->store, &run->baselines, error) < 0 ||
        choose_goals(run, chosen, error) < 0)
        return -1;
    run->setting = config_setting(run->config, ALL_GOALS, &run->device);
    run->setting.solution = config_goal_solution(run->config, run->goals[0]);
    for (int i = 0; i < run->goal_count; i++)
        if (load_solution(run, run->goals[i], error) < 0 ||
            read_champion(run, run->goals[i], chosen, error) < 0)
            return -1;
    return 0;
}

void export_run_release(struct export_run *run) {
    for (int g = 0; g < GOALS_MAX; g++) {
        store_trial_free(run->champions[g]);
        store_trial_free(run->default_trials[g]);
        free(run->duels[g]);
        key_release(&run->keys[g]);
    }
    for (int s = 0; s < SOLUTIONS_MAX; s++)
        template_free(run->templates[s]);
    baseline_results_free(run->baselines);
    config_free(run->config);
    store_close(run->store);
}
