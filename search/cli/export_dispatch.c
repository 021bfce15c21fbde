/* A dispatcher from its measurements, and the trials of what leaves the run with it. */
#include "cli/export_dispatch.h"

#include "base/memory.h"
#include "cli/dispatch_work.h"
#include "run/default_trial.h"
#include "session/single_trial.h"

#include <stdlib.h>
#include <string.h>

/* ---- what leaves the run is checked as a champion ---- */

/* Runs the final checks on a genome at a case. The caller releases the result. */
static int check_at(struct dispatch_work *work, struct single_trial **single_trial, int kernel,
                    int case_index, struct trial_result *result, struct error *error) {
    const struct config *config = work->run->config;
    const int solution = export_run_rival(work->run, work->kernel_goals[kernel]);
    if (*single_trial == NULL)
        *single_trial =
            single_trial_new(config->path, config->template_folder, work->devices.specs[0], error);
    if (*single_trial == NULL)
        return -1;
    struct trial_request request = {.number = case_index,
                                    .goal = case_index * config_rivals(config) + solution,
                                    .genome = work->genomes[kernel],
                                    .full = true,
                                    .promote = true,
                                    .seed = single_trial_fresh_seed()};
    if (single_trial_run(*single_trial, &request, result, error) < 0)
        return -1;
    return result->outcome.verdict == VERDICT_OK
               ? 0
               : error_refuse(error,
                              "genome %d fails the final checks of a champion and is not "
                              "exported: %s: %s",
                              kernel + 1, verdict_name(result->outcome.verdict),
                              result->outcome.reason);
}

/* The case's champion becomes that trial. */
static int replace_champion(struct dispatch_work *work, int kernel, int case_index,
                            struct trial_result *result, struct error *error) {
    struct export_run *run = work->run;
    const int goal =
        case_index * run->solutions.count + export_run_rival(run, work->kernel_goals[kernel]);
    /* A copy of the genome's own trial, of which only the figures differ. */
    struct store_trial *trial = store_trial_read(run->store, work->kernel_trials[kernel], error);
    if (trial == NULL)
        return -1;
    outcome_release((struct outcome *)trial->outcome);
    outcome_move((struct outcome *)trial->outcome, &result->outcome);
    store_trial_free(run->champions[goal]);
    free(run->duels[goal]);
    run->champions[goal] = trial;
    run->duels[goal] = NULL;
    key_release(&run->keys[goal]);
    key_copy(&run->keys[goal], &result->key);
    run->genomes[goal] = work->genomes[kernel];
    run->goals[case_index] = goal;
    return run->default_trials[goal] != NULL
               ? 0
               : default_trial_read(run->store, goal, &run->default_trials[goal], error);
}

static bool is_champion(const struct dispatch_work *work, int kernel, int case_index) {
    const struct export_run *run = work->run;
    const int goal = run->goals[case_index];
    return export_run_rival(run, goal) == export_run_rival(run, work->kernel_goals[kernel]) &&
           genome_equal(&run->genomes[goal], &work->genomes[kernel]);
}

/* Which unit each case gets; and a trial of what was no champion there. */
static int check_units(struct measured_dispatch *dispatch, struct error *error) {
    struct dispatch_work *work = dispatch->work;
    const struct kernel_times times = {dispatch->unit_count, work->shape_count, work->unit_us};
    const int case_count = work->run->config->case_count;
    struct single_trial *single_trial = NULL;
    struct trial_result *result = xcalloc(1, sizeof *result);
    bool serves[CASES_MAX] = {false};
    int status = 0;
    for (int c = case_count - 1; c >= 0 && status == 0; c--) {
        const int unit =
            tree_choose(&dispatch->tree, work->inputs + c * dispatch->tree.input_count, &times, c);
        char name[CASE_NAME_SIZE];
        template_print_shape(work->run->config->shapes, &work->shapes[c], name);
        if (unit < 0) {
            status = error_refuse(error, "no genome is left for the case %s", name);
            break;
        }
        const int kernel = dispatch_unit_kernel(work, &dispatch->units[unit]);
        dispatch->case_units[c] = unit;
        dispatch->units[unit].case_index = c;
        serves[unit] = true;
        if (is_champion(work, kernel, c))
            continue;
        status = check_at(work, &single_trial, kernel, c, result, error);
        if (status == 0)
            status = replace_champion(work, kernel, c, result, error);
        trial_result_release(result);
    }
    for (int u = 0; u < dispatch->unit_count && status == 0; u++) {
        struct dispatch_unit *unit = &dispatch->units[u];
        if (serves[u])
            continue;
        status = check_at(work, &single_trial, dispatch_unit_kernel(work, unit), unit->case_index,
                          result, error);
        if (status == 0) {
            unit->outcome = xcalloc(1, sizeof *unit->outcome);
            outcome_move(unit->outcome, &result->outcome);
            key_copy(&unit->key, &result->key);
        }
        trial_result_release(result);
    }
    single_trial_free(single_trial);
    free(result);
    return status;
}

/* ---- the whole ---- */

static int check_options(const struct export_run *run, const struct dispatch_options *options,
                         struct error *error) {
    if (!(options->within >= 0 && options->within <= 1000))
        return error_input(error, "--within must be from 0 to 1000 per cent");
    if (options->most > DISPATCH_KERNELS_MAX)
        return error_input(error, "--genomes must be at most %d", DISPATCH_KERNELS_MAX);
    if (options->rounds > 100)
        return error_input(error, "--rounds must be at most 100");
    if (run->config->objective != OBJECTIVE_PER_CASE)
        return error_input(error,
                           "%s has one kernel for all its cases, among which there is nothing to "
                           "choose: leave --within out, or search with \"objective\": \"per_case\"",
                           run->folder);
    return 0;
}

static char *copy_ranges(const struct config *config) {
    struct json_document document;
    struct json ranges;
    char *text = NULL;
    if (json_read_text(&document, config->path, config->text, &(struct error){0}) < 0)
        return NULL;
    const struct json root = json_root(&document);
    if (json_find(&root, "ranges", &ranges))
        text = json_print_line(cJSON_Duplicate(ranges.value, 1));
    json_release(&document);
    return text;
}

static int measure_all(struct measured_dispatch *dispatch, const struct dispatch_options *options,
                       struct error *error) {
    struct dispatch_work *work = dispatch->work;
    struct export_dispatch *exported = &dispatch->exported;
    int ignored;
    if (check_options(work->run, options, error) < 0 ||
        dispatch_measure_times(work, options, &exported->predicted, error) < 0)
        return -1;
    exported->within = dispatch_fit(work, options);
    if (work->cover.count == 0)
        return error_refuse(error, "no genome was timed at any case: nothing is exported");
    if (dispatch_add_units(dispatch, error) < 0 || check_units(dispatch, error) < 0)
        return -1;
    exported->tree = &dispatch->tree;
    exported->genomes = work->kernel_count;
    exported->exported_genomes = work->cover.count;
    exported->fewest = work->cover.exact;
    exported->shape_count = work->shape_count;
    exported->shapes = work->shapes;
    exported->fitted = work->fitted;
    exported->us = work->unit_us;
    exported->verified = work->unit_verified;
    exported->least_us = work->least_us;
    exported->held_out = dispatch_find_regret(dispatch, false, &exported->worst_shape);
    exported->of_fitted = dispatch_find_regret(dispatch, true, &ignored);
    for (int s = 0; s < work->shape_count; s++)
        exported->unfit += !(work->least_us[s] > 0);
    exported->ranges = work->ranges = copy_ranges(work->run->config);
    return 0;
}

struct measured_dispatch *export_dispatch_measure(struct export_run *run,
                                                  const struct dispatch_options *options,
                                                  struct error *error) {
    struct measured_dispatch *dispatch = xcalloc(1, sizeof *dispatch);
    dispatch->work = xcalloc(1, sizeof *dispatch->work);
    dispatch->work->run = run;
    if (measure_all(dispatch, options, error) == 0)
        return dispatch;
    export_dispatch_free(dispatch);
    return NULL;
}

void export_dispatch_free(struct measured_dispatch *dispatch) {
    if (dispatch == NULL)
        return;
    struct dispatch_work *work = dispatch->work;
    for (int u = 0; u < dispatch->unit_count; u++) {
        if (dispatch->units[u].outcome != NULL)
            outcome_release(dispatch->units[u].outcome);
        free(dispatch->units[u].outcome);
        key_release(&dispatch->units[u].key);
    }
    tree_release(&dispatch->tree);
    tree_release(&work->kernel_tree);
    free(work->shapes);
    free(work->fitted);
    free(work->inputs);
    free(work->us);
    free(work->verified);
    free(work->unit_us);
    free(work->unit_verified);
    free(work->least_us);
    free(work->ranges);
    free(work);
    free(dispatch);
}

/* ---- printing ---- */

void dispatch_print_regret(const struct regret *regret, const char *worst) {
    printf("median %.1f %% (95 %% interval %.1f to %.1f), 95th percentile %.1f %% (%.1f to %.1f), "
           "worst %.1f %% at %s\n",
           100 * (regret->median - 1), 100 * (regret->median_low - 1),
           100 * (regret->median_high - 1), 100 * (regret->p95 - 1), 100 * (regret->p95_low - 1),
           100 * (regret->p95_high - 1), 100 * (regret->worst - 1), worst);
}

void export_dispatch_print(const struct measured_dispatch *dispatch, const struct export_run *run) {
    const struct export_dispatch *exported = &dispatch->exported;
    const struct regret *regret = &exported->held_out;
    char worst[CASE_NAME_SIZE];
    template_print_shape(run->config->shapes, &exported->shapes[exported->worst_shape], worst);
    printf("genomes: %d of %d%s, within %.3g %% of the fastest at %d shapes; variants: %d; a tree "
           "of depth %d chooses\n",
           exported->exported_genomes, exported->genomes, exported->fewest ? ", the fewest" : "",
           100 * exported->within, exported->of_fitted.count, dispatch->unit_count,
           tree_depth(&dispatch->tree));
    if (regret->count == 0)
        printf("its regret is not known: no other shapes were timed\n");
    else {
        printf("regret at %d other shape%s%s: ", regret->count, regret->count == 1 ? "" : "s",
               exported->predicted ? ", predicted" : "");
        dispatch_print_regret(regret, worst);
    }
    if (exported->unfit > 0)
        printf("shapes that no genome fits: %d\n", exported->unfit);
    if (regret->unserved > 0)
        printf("other shapes without a kernel, though a genome that is not exported fits: %d\n",
               regret->unserved);
}
