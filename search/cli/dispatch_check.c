/* The final checks of what leaves a run with a dispatcher. */
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "cli/dispatch_work.h"
#include "run/default_trial.h"
#include "session/single_trial.h"

#include <stdlib.h>

enum { SAID_EVERY_S = 20 };

/* A unit, to be checked at a case. */
struct unit_check {
    int unit, case_index;
    bool serves; /* the case: its trial becomes the case's champion */
};

struct unit_checks {
    struct measured_dispatch *dispatch;
    int count;
    struct unit_check checks[2 * CASES_MAX];
    int run_count, next, done; /* those that devices run; `next` is what the next free one takes */
    struct unit_check *run[2 * CASES_MAX];
    bool failed;
    double said; /* when progress was logged */
};

/* ---- what is checked ---- */

static bool is_champion(const struct dispatch_work *work, int kernel, int case_index) {
    const struct export_run *run = work->run;
    const int goal = run->goals[case_index];
    return export_run_rival(run, goal) == export_run_rival(run, work->kernel_goals[kernel]) &&
           genome_equal(&run->genomes[goal], &work->genomes[kernel]);
}

/* Which unit each case gets; a check of it unless it is the case's champion already. */
static int add_cases(struct unit_checks *checks, bool *serves, struct error *error) {
    struct measured_dispatch *dispatch = checks->dispatch;
    const struct dispatch_work *work = dispatch->work;
    const struct kernel_times times = {dispatch->unit_count, work->shape_count, work->unit_us};
    for (int c = work->run->config->case_count - 1; c >= 0; c--) {
        const int unit =
            tree_choose(&dispatch->tree, work->inputs + c * dispatch->tree.input_count, &times, c);
        if (unit < 0) {
            char name[CASE_NAME_SIZE];
            template_print_shape(work->run->config->shapes, &work->shapes[c], name);
            return error_refuse(error, "no genome is left for the case %s", name);
        }
        dispatch->case_units[c] = unit;
        dispatch->units[unit].case_index = c;
        serves[unit] = true;
        if (!is_champion(work, dispatch->units[unit].kernel, c))
            checks->checks[checks->count++] = (struct unit_check){unit, c, true};
    }
    return 0;
}

static struct checked_kernel *find_checked(const struct unit_checks *checks,
                                           const struct unit_check *check) {
    const struct dispatch_work *work = checks->dispatch->work;
    for (int i = 0; i < work->checked_count; i++)
        if (work->checked[i].kernel == checks->dispatch->units[check->unit].kernel &&
            work->checked[i].case_index == check->case_index)
            return &work->checked[i];
    return NULL;
}

static int add_checks(struct unit_checks *checks, struct error *error) {
    bool serves[CASES_MAX] = {false};
    if (add_cases(checks, serves, error) < 0)
        return -1;
    for (int u = 0; u < checks->dispatch->unit_count; u++)
        if (!serves[u])
            checks->checks[checks->count++] =
                (struct unit_check){u, checks->dispatch->units[u].case_index, false};
    for (int i = 0; i < checks->count; i++)
        if (find_checked(checks, &checks->checks[i]) == NULL)
            checks->run[checks->run_count++] = &checks->checks[i];
    return 0;
}

/* ---- what follows from a check ---- */

static void take_result(struct unit_checks *checks, struct trial_result *result) {
    struct dispatch_work *work = checks->dispatch->work;
    const struct unit_check *check = checks->run[result->number];
    const int kernel = checks->dispatch->units[check->unit].kernel;
    if (result->outcome.verdict != VERDICT_OK) {
        log_warn("genome %d fails the final checks of a champion and is not exported: %s: %.300s",
                 kernel + 1, verdict_name(result->outcome.verdict), result->outcome.reason);
        dispatch_leave_out(work, kernel);
        checks->failed = true;
        return;
    }
    work->checked = xgrow(work->checked, (size_t)work->checked_count, sizeof *work->checked);
    struct checked_kernel *checked = &work->checked[work->checked_count++];
    *checked = (struct checked_kernel){.kernel = kernel, .case_index = check->case_index};
    outcome_move(&checked->outcome, &result->outcome);
    key_copy(&checked->key, &result->key);
}

/* The case's champion becomes that trial. */
static int replace_champion(struct dispatch_work *work, struct checked_kernel *checked,
                            struct error *error) {
    struct export_run *run = work->run;
    const int kernel = checked->kernel, case_index = checked->case_index;
    const int goal =
        case_index * run->solutions.count + export_run_rival(run, work->kernel_goals[kernel]);
    /* A copy of the genome's own trial, of which only the figures differ. */
    struct store_trial *trial = store_trial_read(run->store, work->kernel_trials[kernel], error);
    if (trial == NULL)
        return -1;
    outcome_release((struct outcome *)trial->outcome);
    outcome_move((struct outcome *)trial->outcome, &checked->outcome);
    store_trial_free(run->champions[goal]);
    free(run->duels[goal]);
    run->champions[goal] = trial;
    run->duels[goal] = NULL;
    key_release(&run->keys[goal]);
    key_copy(&run->keys[goal], &checked->key);
    run->genomes[goal] = work->genomes[kernel];
    run->goals[case_index] = goal;
    return run->default_trials[goal] != NULL
               ? 0
               : default_trial_read(run->store, goal, &run->default_trials[goal], error);
}

/* All have passed: their trials are what the export states of its units. */
static int use_trials(struct unit_checks *checks, struct error *error) {
    for (int i = 0; i < checks->count; i++) {
        const struct unit_check *check = &checks->checks[i];
        struct dispatch_unit *unit = &checks->dispatch->units[check->unit];
        struct checked_kernel *checked = find_checked(checks, check);
        if (check->serves) {
            if (replace_champion(checks->dispatch->work, checked, error) < 0)
                return -1;
            continue;
        }
        unit->outcome = xcalloc(1, sizeof *unit->outcome);
        outcome_move(unit->outcome, &checked->outcome);
        key_copy(&unit->key, &checked->key);
    }
    return 0;
}

/* ---- on the devices ---- */

static void submit_next(struct unit_checks *checks, struct single_trial *single_trial) {
    const struct dispatch_work *work = checks->dispatch->work;
    const struct unit_check *check = checks->run[checks->next];
    const int kernel = checks->dispatch->units[check->unit].kernel;
    struct trial_request request = {.number = checks->next++,
                                    .goal = check->case_index * config_rivals(work->run->config) +
                                            export_run_rival(work->run, work->kernel_goals[kernel]),
                                    .genome = work->genomes[kernel],
                                    .full = true,
                                    .promote = true,
                                    .seed = single_trial_fresh_seed()};
    single_trial_submit(single_trial, &request);
}

static void log_progress(struct unit_checks *checks) {
    if (clock_seconds() - checks->said < SAID_EVERY_S)
        return;
    checks->said = clock_seconds();
    log_info("%d of %d final checks are done", checks->done, checks->run_count);
}

/* Whichever device has a result gets the next check, until none is left. */
static int share_checks(struct unit_checks *checks, struct single_trial *const *single_trials,
                        int count, struct error *error) {
    struct trial_result *result = xcalloc(1, sizeof *result);
    int status = 0;
    checks->said = clock_seconds();
    for (int d = 0; d < count; d++)
        submit_next(checks, single_trials[d]);
    while (checks->done < checks->run_count && status == 0) {
        int d;
        if (single_trial_wait(single_trials, count, &d, result, error) < 0) {
            status = device_list_error(&checks->dispatch->work->devices, d, error);
            break;
        }
        take_result(checks, result);
        trial_result_release(result);
        checks->done++;
        log_progress(checks);
        if (checks->next < checks->run_count)
            submit_next(checks, single_trials[d]);
    }
    free(result);
    return status;
}

static int run_checks(struct unit_checks *checks, struct error *error) {
    const struct dispatch_work *work = checks->dispatch->work;
    const struct config *config = work->run->config;
    const int count =
        work->devices.count < checks->run_count ? work->devices.count : checks->run_count;
    struct single_trial *single_trials[DEVICES_MAX] = {NULL};
    int status = single_trials_start(single_trials, config->path, config->template_folder,
                                     &work->devices, count, error);
    if (status == 0)
        status = share_checks(checks, single_trials, count, error);
    for (int d = 0; d < count; d++)
        single_trial_free(single_trials[d]);
    return status;
}

int dispatch_check_units(struct measured_dispatch *dispatch, struct error *error) {
    struct unit_checks *checks = xcalloc(1, sizeof *checks);
    checks->dispatch = dispatch;
    int status = add_checks(checks, error);
    if (status == 0)
        status = run_checks(checks, error);
    if (status == 0)
        status = checks->failed ? 1 : use_trials(checks, error);
    free(checks);
    return status;
}
