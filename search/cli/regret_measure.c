/* Times an export's variants, and perhaps a run's champions, at the shapes that are asked for. */
#include "cli/regret_work.h"

#include "base/log.h"
#include "base/memory.h"
#include "session/single_trial.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is read ---- */

/* Whether the tree reads dimensions of the template. */
static int check_tree(const struct regret_work *work, struct error *error) {
    const struct tree *tree = work->manifest.tree;
    const struct template *shapes = work->config->shapes;
    for (int i = 0; tree != NULL && i < tree->input_count; i++) {
        int d = 0;
        while (
            d < shapes->dimension_count &&
            (strcmp(shapes->dimensions[d].name, tree->names[i]) != 0 || shapes->dimensions[d].real))
            d++;
        if (d == shapes->dimension_count)
            return error_input(error,
                               "%s/manifest.json: dispatch.choice.inputs[%d]: %s is no dimension "
                               "of %s: the manifest was edited; export again",
                               work->request->folder, i, tree->names[i], shapes->name);
    }
    return 0;
}

static int open_work(struct regret_work *work, struct error *error) {
    const struct regret_request *request = work->request;
    const struct replay_choice choice = replay_choice_default();
    char path[PATH_SIZE];
    if (path_join(path, request->folder, "manifest.json", error) < 0)
        return -1;
    if (!path_exists(path))
        return error_input(error,
                           "%s is no exported kernel: it has no manifest.json; `evotile export` "
                           "writes one",
                           request->folder);
    if (replay_targets_read(&work->targets, request->folder, &choice, true, error) < 0 ||
        manifest_read(&work->manifest, request->folder, error) < 0)
        return -1;
    work->config = work->targets.config;
    if (check_tree(work, error) < 0)
        return -1;
    if (request->against == NULL)
        return 0;
    work->run =
        (struct export_run){.folder = request->against, .rank = REPLAY_CHAMPION, .trial = -1};
    work->has_run = true;
    if (export_run_read(&work->run, error) < 0)
        return -1;
    if (strcmp(work->run.config->shapes->name, work->manifest.template_name) != 0)
        return error_input(error,
                           "%s is of %s, and %s of %s: give --against a run of the same "
                           "template",
                           request->against, work->run.config->shapes->name, request->folder,
                           work->manifest.template_name);
    work->config = work->run.config;
    return 0;
}

/* ---- the kernels ---- */

/* Whether the shape has the specialised dimensions of the variant. */
static bool serves(const struct regret_work *work, int variant, const struct shape *shape) {
    const struct json *specialised = &work->manifest.variants[variant].specialised;
    for (int i = 0; specialised->value != NULL && i < json_count(specialised); i++) {
        const struct json value = json_at(specialised, i);
        int64_t number;
        if (json_integer(&value, &number, &(struct error){0}) < 0 ||
            template_dimension(work->config->shapes, shape, json_key(&value), number + 1) != number)
            return false;
    }
    return true;
}

/* Reads what is judged of a variant, on a device. */
static int read_variant(struct regret_work *work, int variant, const struct device_info *device,
                        struct error *error) {
    const struct config *config = work->targets.config;
    const char *solution = work->manifest.variants[variant].solution;
    struct replay_target *target = &work->variants[variant];
    struct timed_kernel *kernel = &work->kernels[work->kernel_count];
    int own = 0, c = 0;
    while (c < config->case_count && !serves(work, variant, &config->cases[c]))
        c++;
    if (c == config->case_count)
        return error_input(error,
                           "%s/manifest.json: no case has the specialised dimensions of "
                           "units[%d]: the manifest was edited; export again",
                           work->request->folder, variant);
    if ((solution != NULL && config_find_solution(config, solution, &own, error) < 0) ||
        (solution != NULL &&
         config_find_solution(work->config, solution, &kernel->solution, error) < 0) ||
        replay_read_variant(&work->targets, &work->manifest, variant, true, target, error) < 0)
        return -1;
    target->request.goal = c * config_rivals(config) + own;
    snprintf(target->name, sizeof target->name, "variant %d", variant + 1);
    kernel->genome = target->key.parts[KEY_GENOME];
    work->kernel_count++;
    return replay_target_genome(&work->targets, target, device, error);
}

/* The run's champions, each for its own case. */
static int add_champions(struct regret_work *work, struct error *error) {
    const struct export_run *run = &work->run;
    if (run->config->objective != OBJECTIVE_PER_CASE)
        return error_input(error,
                           "%s has one kernel for all its cases: give --against a run with "
                           "\"objective\": \"per_case\"",
                           run->folder);
    for (int i = 0; i < run->goal_count; i++) {
        const int goal = run->goals[i];
        genome_print(&run->genomes[goal], export_run_template(run, goal)->space, work->texts[i]);
        work->of_run[work->kernel_count] = run->config->cases[i];
        work->kernels[work->kernel_count++] = (struct timed_kernel){
            .solution = export_run_rival(run, goal), .genome = work->texts[i]};
    }
    return 0;
}

static int read_kernels(struct regret_work *work, struct error *error) {
    struct device_info device;
    if (device_list_read(&work->devices, work->device_text, error) < 0 ||
        device_list_describe(&work->devices, &device, error) < 0)
        return -1;
    device_list_name(&work->devices, &device, work->device_name);
    for (int v = 0; v < work->manifest.variant_count; v++)
        if (read_variant(work, v, &device, error) < 0)
            return -1;
    return work->has_run ? add_champions(work, error) : 0;
}

/* ---- the shapes ---- */

static int read_shapes(struct regret_work *work, struct error *error) {
    const struct config *config = work->targets.config;
    if (work->request->shapes != NULL) {
        if (dispatch_draws(work->request->shapes) && !config->has_ranges)
            return error_input(error, "%s records no ranges to draw shapes from: give --cases FILE",
                               work->request->folder);
        work->shape_count = dispatch_read_shapes(
            config, work->request->shapes, (uint64_t)work->request->seed, &work->shapes, error);
        return work->shape_count < 0 ? -1 : 0;
    }
    if (!work->has_run)
        return error_input(error, "regret: --cases is missing: give a file of shapes, a number of "
                                  "shapes to draw from the export's ranges, or --against RUN");
    work->shape_count = work->config->case_count;
    work->shapes = xcalloc((size_t)work->shape_count, sizeof *work->shapes);
    memcpy(work->shapes, work->config->cases, (size_t)work->shape_count * sizeof *work->shapes);
    return 0;
}

/* ---- measuring ---- */

static int prepare(void *context, int kernel, int shape, struct trial_request *request,
                   struct error *error) {
    struct regret_work *work = context;
    (void)error;
    if (kernel >= work->manifest.variant_count)
        return memcmp(&work->of_run[kernel], &work->shapes[shape], sizeof *work->shapes) == 0;
    if (!serves(work, kernel, &work->shapes[shape]))
        return 0;
    work->admits[shape * work->manifest.variant_count + kernel] = true;
    request->sources[0] = xstrdup(work->variants[kernel].request.sources[0]);
    request->cubins[0] = xstrdup(work->variants[kernel].request.cubins[0]);
    return 1;
}

static void note_result(void *context, int kernel, int shape, const struct trial_result *result) {
    struct regret_work *work = context;
    const struct outcome *outcome = &result->outcome;
    if (kernel >= work->manifest.variant_count)
        return;
    work->failures += outcome->verdict != VERDICT_OK;
    if (outcome->verdict == VERDICT_OK && outcome->case_count == 1)
        work->operations[shape * work->manifest.variant_count + kernel] =
            outcome->cases[0].tflops * outcome->cases[0].warm.p50_us * 1e6;
}

static int measure(struct regret_work *work, struct error *error) {
    const struct case_times_request request = {.config = work->config,
                                               .devices = &work->devices,
                                               .rounds = (int)work->request->rounds,
                                               .seed = single_trial_fresh_seed(),
                                               .kernel_count = work->kernel_count,
                                               .kernels = work->kernels,
                                               .shape_count = work->shape_count,
                                               .shapes = work->shapes,
                                               .prepare = prepare,
                                               .measured = note_result,
                                               .context = work};
    work->operations = xcalloc((size_t)work->shape_count * CASES_MAX, sizeof *work->operations);
    work->admits = xcalloc((size_t)work->shape_count * CASES_MAX, sizeof *work->admits);
    log_info("%d kernels are timed at %d shapes on %s", work->kernel_count, work->shape_count,
             work->device_name);
    return case_times_measure(&request, &work->us, &work->predicted, error);
}

/* ---- the whole ---- */

int regret_measure_times(struct regret_work *work, struct error *error) {
    if (open_work(work, error) < 0)
        return -1;
    work->device_text = work->request->devices != NULL ? work->request->devices
                        : work->has_run                ? work->run.device.spec
                        : work->targets.device != NULL ? work->targets.device
                                                       : "auto";
    if (read_shapes(work, error) < 0 || read_kernels(work, error) < 0)
        return -1;
    return measure(work, error);
}

void regret_release(struct regret_work *work) {
    for (int v = 0; v < CASES_MAX; v++) {
        trial_request_release(&work->variants[v].request);
        key_release(&work->variants[v].key);
    }
    if (work->has_run)
        export_run_release(&work->run);
    manifest_release(&work->manifest);
    replay_targets_release(&work->targets);
    free(work->shapes);
    free(work->us);
    free(work->operations);
    free(work->admits);
    free(work);
}
