/* Chooses genomes, fits the tree that names one, and finds its regret. */
#include "base/memory.h"
#include "cli/dispatch_work.h"
#include "config/ranges.h"
#include "dispatch/smooth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the tree ---- */

/* Of which dimensions the tree is: those that differ between shapes; flags and lists of values are
   in no product. */
struct tree_dimensions {
    int count;
    int indices[DIMENSIONS_MAX];
    const char *names[DIMENSIONS_MAX];
    int64_t maxima[DIMENSIONS_MAX];
};

static void find_dimensions(const struct dispatch_work *work, struct tree_dimensions *found) {
    const struct template *shapes = work->run->config->shapes;
    found->count = 0;
    for (int d = 0; d < shapes->dimension_count; d++) {
        const struct dimension *dimension = &shapes->dimensions[d];
        bool varies = false;
        for (int s = 1; s < work->shape_count; s++)
            varies = varies || work->shapes[s].values[d] != work->shapes[0].values[d];
        if (!varies || dimension->real)
            continue;
        found->names[found->count] = dimension->name;
        found->maxima[found->count] =
            dimension->value_count > 0 || dimension->minimum < 0 ? 1 : dimension->maximum;
        found->indices[found->count++] = d;
    }
}

/* [shape][input]; the caller frees it. */
static int64_t *inputs_of(const struct tree_dimensions *of, const struct shape *shapes, int count) {
    int64_t *inputs = xmalloc(((size_t)count * (size_t)of->count + 1) * sizeof *inputs);
    for (int s = 0; s < count; s++)
        for (int i = 0; i < of->count; i++)
            inputs[s * of->count + i] = shapes[s].values[of->indices[i]];
    return inputs;
}

/* Shapes that are not timed, within the config's ranges; none if it has none. */
static int draw_further(const struct dispatch_work *work, struct shape **shapes) {
    struct error no_ranges = {0};
    const int count = config_draw_shapes(work->run->config, DISPATCH_FURTHER,
                                         work->run->config->seed + 1, shapes, &no_ranges);
    return count < 0 ? 0 : count;
}

static void fit_tree(struct dispatch_work *work, const struct tree_dimensions *dimensions,
                     const struct kernel_times *times, const int64_t *inputs, const bool *is_case,
                     double within) {
    const struct tree_inputs of = {dimensions->count, dimensions->names, dimensions->maxima};
    const struct tree_limits limits = {
        .depth = DISPATCH_DEPTH, .leaf_cases = SMOOTH_LEAF_ROWS, .within = within};
    struct shape *shapes = NULL;
    struct smoothing smoothing = {.inputs = &of,
                                  .values = inputs,
                                  .times = *times,
                                  .searched = is_case,
                                  .further_count = draw_further(work, &shapes),
                                  .seed = work->run->config->seed};
    int64_t *further = inputs_of(dimensions, shapes, smoothing.further_count), *values;
    smoothing.further = further;
    const struct kernel_times rows = smooth_times(&smoothing, &values);
    tree_fit(&work->kernel_tree, &of, values, &rows, &limits);
    free(shapes);
    free(further);
    free((double *)rows.us);
    free(values);
}

double dispatch_fit(struct dispatch_work *work, const struct dispatch_options *options) {
    struct tree_dimensions dimensions;
    double within = options->within / 100;
    find_dimensions(work, &dimensions);
    work->inputs = inputs_of(&dimensions, work->shapes, work->shape_count);
    /* Of the shapes to fit. */
    const size_t room = (size_t)work->shape_count;
    double *us = xmalloc(room * (size_t)work->kernel_count * sizeof *us);
    int64_t *inputs = xmalloc((room * (size_t)dimensions.count + 1) * sizeof *inputs);
    bool *is_case = xmalloc(room * sizeof *is_case);
    int count = 0;
    for (int s = 0; s < work->shape_count; s++) {
        if (!work->fitted[s])
            continue;
        memcpy(us + count * work->kernel_count, work->us + s * work->kernel_count,
               (size_t)work->kernel_count * sizeof *us);
        memcpy(inputs + count * dimensions.count, work->inputs + s * dimensions.count,
               (size_t)dimensions.count * sizeof *inputs);
        is_case[count++] = s < work->run->config->case_count;
    }
    const struct kernel_times times = {work->kernel_count, count, us};
    if (options->most > 0)
        within = cover_find_at_most(&times, within, (int)options->most, &work->cover);
    else
        cover_find(&times, within, &work->cover);
    const struct kernel_times chosen =
        kernel_times_select(&times, work->cover.kernels, work->cover.count);
    if (work->cover.count > 0)
        fit_tree(work, &dimensions, &chosen, inputs, is_case, options->within / 100);
    free(us);
    free((double *)chosen.us);
    free(inputs);
    free(is_case);
    return within;
}

/* ---- the units ---- */

static int add_unit(struct measured_dispatch *dispatch, int kernel, int case_index) {
    struct dispatch_work *work = dispatch->work;
    int u = 0;
    while (u < dispatch->unit_count &&
           (dispatch->units[u].kernel != kernel || dispatch->units[u].case_index != case_index))
        u++;
    if (u == dispatch->unit_count && u < CASES_MAX)
        dispatch->units[dispatch->unit_count++] =
            (struct dispatch_unit){.kernel = kernel,
                                   .goal = work->kernel_goals[kernel],
                                   .genome = &work->genomes[kernel],
                                   .case_index = case_index};
    return u;
}

/* What the tree of genomes gives each shape to fit, compiled for its specialised dimensions. */
static int add_units(struct measured_dispatch *dispatch, struct error *error) {
    struct dispatch_work *work = dispatch->work;
    const struct kernel_times all = {work->kernel_count, work->shape_count, work->us};
    const struct kernel_times chosen =
        kernel_times_select(&all, work->cover.kernels, work->cover.count);
    int status = 0;
    for (int s = 0; s < work->shape_count && status == 0; s++) {
        const int choice =
            !work->fitted[s]
                ? -1
                : tree_choose(&work->kernel_tree, work->inputs + s * work->kernel_tree.input_count,
                              &chosen, s);
        if (choice < 0)
            continue;
        const int kernel = work->cover.kernels[choice];
        if (add_unit(dispatch, kernel, dispatch_compiled_case(work, kernel, &work->shapes[s])) ==
            CASES_MAX)
            status = error_input(error,
                                 "the dispatcher takes more than %d variants: raise --within, or "
                                 "give --genomes N",
                                 CASES_MAX);
    }
    free((double *)chosen.us);
    return status;
}

/* The tree of the units: of each leaf those of the first genome, then those of the second. */
static void expand_tree(struct measured_dispatch *dispatch) {
    const struct dispatch_work *work = dispatch->work;
    struct tree *tree = &dispatch->tree;
    *tree = work->kernel_tree;
    tree->nodes = xmalloc((size_t)tree->node_count * sizeof *tree->nodes);
    memcpy(tree->nodes, work->kernel_tree.nodes, (size_t)tree->node_count * sizeof *tree->nodes);
    tree->kernel_count = dispatch->unit_count;
    for (int i = 0; i < tree->node_count; i++) {
        int count = 0;
        for (int k = 0; k < work->cover.count; k++)
            for (int u = 0; u < dispatch->unit_count; u++)
                if (dispatch->units[u].kernel ==
                    work->cover.kernels[work->kernel_tree.nodes[i].order[k]])
                    tree->nodes[i].order[count++] = (unsigned char)u;
    }
}

static void fill_unit_times(struct measured_dispatch *dispatch) {
    struct dispatch_work *work = dispatch->work;
    const int count = dispatch->unit_count;
    const struct kernel_times times = {work->kernel_count, work->shape_count, work->us};
    work->unit_us = xmalloc(((size_t)work->shape_count * (size_t)count + 1) * sizeof *work->us);
    work->unit_verified =
        xcalloc((size_t)work->shape_count * (size_t)count + 1, sizeof *work->unit_verified);
    work->least_us = xmalloc((size_t)work->shape_count * sizeof *work->least_us);
    for (int s = 0; s < work->shape_count; s++) {
        const int fastest = kernel_times_fastest(&times, s);
        work->least_us[s] = fastest < 0 ? NAN : work->us[s * work->kernel_count + fastest];
        for (int u = 0; u < count; u++) {
            const int kernel = dispatch->units[u].kernel;
            const bool compiled = dispatch_compiled_case(work, kernel, &work->shapes[s]) ==
                                  dispatch->units[u].case_index;
            work->unit_us[s * count + u] =
                compiled ? work->us[s * work->kernel_count + kernel] : NAN;
            work->unit_verified[s * count + u] =
                compiled && work->verified[s * work->kernel_count + kernel];
        }
    }
}

int dispatch_add_units(struct measured_dispatch *dispatch, struct error *error) {
    if (add_units(dispatch, error) < 0)
        return -1;
    expand_tree(dispatch);
    fill_unit_times(dispatch);
    return 0;
}

/* ---- the regret ---- */

struct regret dispatch_find_regret(const struct measured_dispatch *dispatch, bool fitted,
                                   int *worst) {
    const struct dispatch_work *work = dispatch->work;
    const struct kernel_times times = {dispatch->unit_count, work->shape_count, work->unit_us};
    double *ratios = xmalloc((size_t)work->shape_count * sizeof *ratios);
    int *shapes = xmalloc((size_t)work->shape_count * sizeof *shapes), count = 0, unserved = 0;
    struct regret regret;
    for (int s = 0; s < work->shape_count; s++) {
        if (work->fitted[s] != fitted || !(work->least_us[s] > 0))
            continue;
        const int unit =
            tree_choose(&dispatch->tree, work->inputs + s * dispatch->tree.input_count, &times, s);
        if (unit < 0) {
            unserved++;
            continue;
        }
        shapes[count] = s;
        ratios[count++] = work->unit_us[s * dispatch->unit_count + unit] / work->least_us[s];
    }
    regret_compute(&regret, ratios, count, unserved, work->run->config->seed);
    *worst = count > 0 ? shapes[regret.worst_case] : 0;
    free(ratios);
    free(shapes);
    return regret;
}
