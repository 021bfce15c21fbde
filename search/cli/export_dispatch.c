#include "cli/export_dispatch.h"

#include "base/log.h"
#include "base/memory.h"
#include "config/ranges.h"
#include "dispatch/cover.h"
#include "run/default_trial.h"
#include "session/case_times.h"
#include "session/single_trial.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is measured, and what follows from it. Kernels are genomes of a solution. */
struct dispatch_work {
    struct export_run *run;
    char device[sizeof((struct device_info *)0)->spec];
    int kernel_count, kernel_goals[DISPATCH_KERNELS_MAX]; /* the first goal that each is champion
                                                             of */
    bool failed[DISPATCH_KERNELS_MAX];
    struct genome genomes[DISPATCH_KERNELS_MAX];
    char texts[DISPATCH_KERNELS_MAX][GENOME_TEXT_SIZE];
    int shape_count;
    struct shape *shapes; /* the cases, then the others */
    bool *fitted;
    int64_t *inputs;  /* [shape][input of the tree] */
    double *us;       /* [shape][kernel] */
    double *unit_us;  /* [shape][unit] */
    double *least_us; /* of a shape */
    char *ranges;     /* of the config, as JSON */
    struct cover cover;
    struct tree kernel_tree; /* its kernels are those of the cover */
};

/* ---- kernels, shapes and the device ---- */

static void add_kernels(struct dispatch_work *work) {
    const struct export_run *run = work->run;
    for (int i = 0; i < run->goal_count; i++) {
        const int goal = run->goals[i], solution = export_run_rival(run, goal);
        int k = 0;
        while (k < work->kernel_count &&
               (export_run_rival(run, work->kernel_goals[k]) != solution ||
                !genome_equal(&work->genomes[k], &run->genomes[goal])))
            k++;
        if (k < work->kernel_count)
            continue;
        work->kernel_goals[k] = goal;
        work->genomes[k] = run->genomes[goal];
        genome_print(&work->genomes[k], export_run_template(run, goal)->space, work->texts[k]);
        work->kernel_count++;
    }
}

static struct template *kernel_template(const struct dispatch_work *work, int kernel) {
    return export_run_template(work->run, work->kernel_goals[kernel]);
}

int dispatch_read_shapes(const struct config *config, const char *text, uint64_t seed,
                         struct shape **shapes, struct error *error) {
    char *end;
    errno = 0;
    const long number = strtol(text, &end, 10);
    if (*end != '\0' || end == text)
        return config_read_shapes(config, text, shapes, error);
    if (errno != 0 || number < 1 || number > SHAPES_MAX)
        return error_input(error, "%s shapes: draw 1 to %d", text, SHAPES_MAX);
    return config_draw_shapes(config, (int)number, seed, shapes, error);
}

/* The cases and every second one of the others are fitted to. */
static int add_shapes(struct dispatch_work *work, const char *text, struct error *error) {
    const struct config *config = work->run->config;
    char number[16];
    struct shape *others = NULL;
    snprintf(number, sizeof number, "%d", DISPATCH_SHAPES);
    const int count =
        dispatch_read_shapes(config, text != NULL ? text : number, config->seed, &others, error);
    if (count < 0)
        return -1;
    const size_t room = (size_t)(config->case_count + count);
    work->shapes = xcalloc(room, sizeof *work->shapes);
    work->fitted = xcalloc(room, sizeof *work->fitted);
    for (int c = 0; c < config->case_count; c++) {
        work->shapes[work->shape_count] = config->cases[c];
        work->fitted[work->shape_count++] = true;
    }
    for (int i = 0; i < count; i++) {
        bool is_case = false; /* a file may name one */
        for (int c = 0; c < config->case_count; c++)
            is_case = is_case || memcmp(&config->cases[c], &others[i], sizeof others[i]) == 0;
        if (is_case)
            continue;
        work->fitted[work->shape_count] = (work->shape_count - config->case_count) % 2 == 1;
        work->shapes[work->shape_count++] = others[i];
    }
    free(others);
    return 0;
}

static int find_device(struct dispatch_work *work, struct error *error) {
    const char *const specs[] = {work->run->device.spec, "auto"};
    struct device_info device;
    struct error ignored;
    for (int i = 0; i < 2; i++)
        if (device_describe(specs[i], &device, &ignored) == 0 &&
            strcmp(device.name, work->run->device.name) == 0) {
            snprintf(work->device, sizeof work->device, "%s", device.spec);
            return 0;
        }
    return error_set(error,
                     "--within times the kernels on %s, which is not here: export on a host that "
                     "has one, or leave --within out",
                     work->run->device.name);
}

/* ---- measuring ---- */

/* Whether a case of the run has the shape's specialised dimensions, as the kernel's solution
   specialises them; its index, or -1. */
static int compiled_case(const struct dispatch_work *work, int kernel, const struct shape *shape) {
    const struct template *template = kernel_template(work, kernel);
    for (int c = 0; c < template->case_count; c++) {
        bool same = true;
        for (int d = 0; d < template->dimension_count; d++)
            same = same && (!template->dimensions[d].specialised ||
                            template->cases[c].values[d] == shape->values[d]);
        if (same)
            return c;
    }
    return -1;
}

static int prepare(void *context, int kernel, int shape, struct trial_request *request,
                   struct error *error) {
    const struct dispatch_work *work = context;
    (void)request;
    (void)error;
    return !work->failed[kernel] && compiled_case(work, kernel, &work->shapes[shape]) >= 0;
}

static void note_failure(void *context, int kernel, int shape, const struct trial_result *result) {
    struct dispatch_work *work = context;
    (void)shape;
    if (result->outcome.verdict != VERDICT_OK)
        work->failed[kernel] = true;
}

static int measure(struct dispatch_work *work, const struct dispatch_options *options,
                   bool *predicted, struct error *error) {
    struct timed_kernel kernels[DISPATCH_KERNELS_MAX];
    int left = 0;
    for (int k = 0; k < work->kernel_count; k++)
        kernels[k] =
            (struct timed_kernel){.solution = export_run_rival(work->run, work->kernel_goals[k]),
                                  .genome = work->texts[k]};
    const struct case_times_request request = {.config = work->run->config,
                                               .device = work->device,
                                               .rounds = (int)options->rounds,
                                               .seed = single_trial_fresh_seed(),
                                               .kernel_count = work->kernel_count,
                                               .kernels = kernels,
                                               .shape_count = work->shape_count,
                                               .shapes = work->shapes,
                                               .prepare = prepare,
                                               .measured = note_failure,
                                               .context = work};
    log_info("%d genomes are timed at %d shapes on %s", work->kernel_count, work->shape_count,
             work->device);
    if (case_times_measure(&request, &work->us, predicted, error) < 0)
        return -1;
    for (int k = 0; k < work->kernel_count; k++) {
        left += !work->failed[k];
        for (int s = 0; s < work->shape_count && work->failed[k]; s++)
            work->us[s * work->kernel_count + k] = NAN;
        if (work->failed[k])
            log_warn("genome %d fails at a shape, and is not exported: %.300s", k + 1,
                     work->texts[k]);
    }
    return left > 0 ? 0
                    : error_refuse(error, "every genome fails at one of the shapes: nothing is "
                                          "exported");
}

/* ---- the tree ---- */

/* The dimensions that differ between shapes; flags and lists of values are in no product. */
static int fill_inputs(struct dispatch_work *work, const char **names, int64_t *maxima) {
    const struct template *shapes = work->run->config->shapes;
    int indices[DIMENSIONS_MAX], count = 0;
    for (int d = 0; d < shapes->dimension_count; d++) {
        const struct dimension *dimension = &shapes->dimensions[d];
        bool varies = false;
        for (int s = 1; s < work->shape_count; s++)
            varies = varies || work->shapes[s].values[d] != work->shapes[0].values[d];
        if (!varies || dimension->real)
            continue;
        names[count] = dimension->name;
        maxima[count] =
            dimension->value_count > 0 || dimension->minimum < 0 ? 1 : dimension->maximum;
        indices[count++] = d;
    }
    work->inputs = xcalloc((size_t)work->shape_count * (size_t)(count + 1), sizeof *work->inputs);
    for (int s = 0; s < work->shape_count; s++)
        for (int i = 0; i < count; i++)
            work->inputs[s * count + i] = work->shapes[s].values[indices[i]];
    return count;
}

/* The rows of the shapes to fit, first. The caller frees both. */
static struct kernel_times fitted_times(const struct dispatch_work *work, int input_count,
                                        int64_t **inputs) {
    const size_t room = (size_t)work->shape_count;
    double *us = xmalloc(room * (size_t)work->kernel_count * sizeof *us);
    int count = 0;
    *inputs = xmalloc((room * (size_t)input_count + 1) * sizeof **inputs);
    for (int s = 0; s < work->shape_count; s++) {
        if (!work->fitted[s])
            continue;
        memcpy(us + count * work->kernel_count, work->us + s * work->kernel_count,
               (size_t)work->kernel_count * sizeof *us);
        memcpy(*inputs + count * input_count, work->inputs + s * input_count,
               (size_t)input_count * sizeof **inputs);
        count++;
    }
    return (struct kernel_times){work->kernel_count, count, us};
}

/* Chooses the genomes and fits the tree. Returns the fraction. */
static double fit(struct dispatch_work *work, const struct dispatch_options *options) {
    const char *names[DIMENSIONS_MAX];
    int64_t maxima[DIMENSIONS_MAX], *inputs;
    double within = options->within / 100;
    const int count = fill_inputs(work, names, maxima);
    const struct kernel_times times = fitted_times(work, count, &inputs);
    if (options->most > 0)
        within = cover_find_at_most(&times, within, (int)options->most, &work->cover);
    else
        cover_find(&times, within, &work->cover);
    const struct kernel_times chosen =
        kernel_times_select(&times, work->cover.kernels, work->cover.count);
    const struct tree_limits limits = {
        .depth = DISPATCH_DEPTH, .leaf_cases = 2, .within = options->within / 100};
    if (work->cover.count > 0)
        tree_fit(&work->kernel_tree,
                 &(struct tree_inputs){.count = count, .names = names, .maxima = maxima}, inputs,
                 &chosen, &limits);
    free((double *)times.us);
    free((double *)chosen.us);
    free(inputs);
    return within;
}

/* ---- the units ---- */

static int add_unit(struct measured_dispatch *dispatch, int kernel, int case_index) {
    struct dispatch_work *work = dispatch->work;
    const int goal = work->kernel_goals[kernel];
    int u = 0;
    while (u < dispatch->unit_count &&
           (dispatch->units[u].goal != goal || dispatch->units[u].case_index != case_index))
        u++;
    if (u == dispatch->unit_count && u < CASES_MAX)
        dispatch->units[dispatch->unit_count++] = (struct dispatch_unit){
            .goal = goal, .genome = &work->genomes[kernel], .case_index = case_index};
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
        if (add_unit(dispatch, kernel, compiled_case(work, kernel, &work->shapes[s])) == CASES_MAX)
            status = error_input(error,
                                 "the dispatcher takes more than %d variants: raise --within, or "
                                 "give --genomes N",
                                 CASES_MAX);
    }
    free((double *)chosen.us);
    return status;
}

static int unit_kernel(const struct dispatch_work *work, const struct dispatch_unit *unit) {
    int kernel = 0;
    while (work->kernel_goals[kernel] != unit->goal)
        kernel++;
    return kernel;
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
                if (unit_kernel(work, &dispatch->units[u]) ==
                    work->cover.kernels[work->kernel_tree.nodes[i].order[k]])
                    tree->nodes[i].order[count++] = (unsigned char)u;
    }
}

static void fill_unit_times(struct measured_dispatch *dispatch) {
    struct dispatch_work *work = dispatch->work;
    const int count = dispatch->unit_count;
    const struct kernel_times times = {work->kernel_count, work->shape_count, work->us};
    work->unit_us = xmalloc(((size_t)work->shape_count * (size_t)count + 1) * sizeof *work->us);
    work->least_us = xmalloc((size_t)work->shape_count * sizeof *work->least_us);
    for (int s = 0; s < work->shape_count; s++) {
        const int fastest = kernel_times_fastest(&times, s);
        work->least_us[s] = fastest < 0 ? NAN : work->us[s * work->kernel_count + fastest];
        for (int u = 0; u < count; u++) {
            const int kernel = unit_kernel(work, &dispatch->units[u]);
            const bool compiled =
                compiled_case(work, kernel, &work->shapes[s]) == dispatch->units[u].case_index;
            work->unit_us[s * count + u] =
                compiled ? work->us[s * work->kernel_count + kernel] : NAN;
        }
    }
}

/* ---- the regret ---- */

/* Of the shapes that were fitted to, or of the others; `worst` is the index of the worst shape. */
static struct regret find_regret(const struct measured_dispatch *dispatch, bool fitted,
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

/* ---- what leaves the run is checked as a champion ---- */

/* Runs the final checks on a genome at a case. The caller releases the result. */
static int check_at(struct dispatch_work *work, struct single_trial **single_trial, int kernel,
                    int case_index, struct trial_result *result, struct error *error) {
    const struct config *config = work->run->config;
    const int solution = export_run_rival(work->run, work->kernel_goals[kernel]);
    if (*single_trial == NULL)
        *single_trial =
            single_trial_new(config->path, config->template_folder, work->device, error);
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
    const int64_t number = run->champions[work->kernel_goals[kernel]]->number;
    struct store_trial *trial = store_trial_read(run->store, number, error);
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
        const int kernel = unit_kernel(work, &dispatch->units[unit]);
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
        status =
            check_at(work, &single_trial, unit_kernel(work, unit), unit->case_index, result, error);
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
    if (check_options(work->run, options, error) < 0 || find_device(work, error) < 0 ||
        add_shapes(work, options->shapes, error) < 0)
        return -1;
    add_kernels(work);
    if (measure(work, options, &exported->predicted, error) < 0)
        return -1;
    exported->within = fit(work, options);
    if (add_units(dispatch, error) < 0)
        return -1;
    expand_tree(dispatch);
    fill_unit_times(dispatch);
    if (check_units(dispatch, error) < 0)
        return -1;
    exported->tree = &dispatch->tree;
    exported->genomes = work->kernel_count;
    exported->exported_genomes = work->cover.count;
    exported->fewest = work->cover.exact;
    exported->shape_count = work->shape_count;
    exported->shapes = work->shapes;
    exported->fitted = work->fitted;
    exported->us = work->unit_us;
    exported->least_us = work->least_us;
    exported->held_out = find_regret(dispatch, false, &exported->worst_shape);
    exported->of_fitted = find_regret(dispatch, true, &ignored);
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
    free(work->unit_us);
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
