/* A dispatcher from its measurements. */
#include "cli/export_dispatch.h"

#include "base/memory.h"
#include "cli/dispatch_work.h"

#include <stdlib.h>
#include <string.h>

/* ---- the whole ---- */

static int check_options(const struct export_run *run, const struct dispatch_options *options,
                         struct error *error) {
    if (!(options->within >= 0 && options->within <= 1000))
        return error_input(error, "--within must be from 0 to 1000 per cent");
    if (options->most > DISPATCH_KERNELS_MAX)
        return error_input(error, "--genomes must be at most %d", DISPATCH_KERNELS_MAX);
    if (options->candidates > DISPATCH_KERNELS_MAX)
        return error_input(error, "--candidates must be at most %d", DISPATCH_KERNELS_MAX);
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

/* Of units and their tree. */
static void release_fit(struct measured_dispatch *dispatch) {
    struct dispatch_work *work = dispatch->work;
    for (int u = 0; u < dispatch->unit_count; u++) {
        if (dispatch->units[u].outcome != NULL)
            outcome_release(dispatch->units[u].outcome);
        free(dispatch->units[u].outcome);
        key_release(&dispatch->units[u].key);
    }
    dispatch->unit_count = 0;
    tree_release(&dispatch->tree);
    tree_release(&work->kernel_tree);
    free(work->inputs);
    free(work->unit_us);
    free(work->unit_verified);
    free(work->least_us);
    work->inputs = NULL;
    work->unit_us = work->least_us = NULL;
    work->unit_verified = NULL;
}

/* Fits again as often as a genome fails its final checks. */
static int fit_and_check(struct measured_dispatch *dispatch, const struct dispatch_options *options,
                         struct error *error) {
    struct dispatch_work *work = dispatch->work;
    int status;
    do {
        release_fit(dispatch);
        dispatch->exported.within = dispatch_fit(work, options);
        if (work->cover.count == 0)
            return error_refuse(error, "no genome is left: nothing is exported");
        status = dispatch_add_units(dispatch, error);
        if (status == 0)
            status = dispatch_check_units(dispatch, error);
    } while (status > 0);
    return status;
}

/* The tree may have no use for one of the cover. */
static int count_genomes(const struct measured_dispatch *dispatch) {
    int count = 0;
    for (int k = 0; k < dispatch->work->kernel_count; k++)
        for (int u = 0; u < dispatch->unit_count; u++)
            if (dispatch->units[u].kernel == k) {
                count++;
                break;
            }
    return count;
}

static int measure_all(struct measured_dispatch *dispatch, const struct dispatch_options *options,
                       struct error *error) {
    struct dispatch_work *work = dispatch->work;
    struct export_dispatch *exported = &dispatch->exported;
    int ignored;
    if (check_options(work->run, options, error) < 0 ||
        dispatch_measure_times(work, options, &exported->predicted, error) < 0 ||
        fit_and_check(dispatch, options, error) < 0)
        return -1;
    exported->tree = &dispatch->tree;
    exported->genomes = work->kernel_count;
    exported->exported_genomes = count_genomes(dispatch);
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
    release_fit(dispatch);
    for (int i = 0; i < work->checked_count; i++) {
        outcome_release(&work->checked[i].outcome);
        key_release(&work->checked[i].key);
    }
    free(work->checked);
    free(work->shapes);
    free(work->fitted);
    free(work->us);
    free(work->verified);
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
