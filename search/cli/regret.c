/* regret: measures how much slower the kernels that an export's launcher chooses are than the
   fastest of its variants, and of the champions of a run. */
#include "dispatch/regret.h"
#include "base/log.h"
#include "base/memory.h"
#include "cli/cli.h"
#include "cli/export_dispatch.h"
#include "render/table.h"
#include "run/replay_targets.h"
#include "session/case_times.h"
#include "session/single_trial.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct regret_request {
    const char *folder, *shapes, *against, *devices;
    int64_t seed, rounds;
    bool json;
};

/* The export's variants come first, then the run's champions. */
enum { TIMED_MAX = CASES_MAX + DISPATCH_KERNELS_MAX };

struct regret_work {
    const struct regret_request *request;
    struct replay_targets targets; /* of the export */
    struct manifest manifest;
    struct replay_target variants[CASES_MAX];
    bool has_run;
    struct export_run run;
    const struct config *config; /* the run's, else that of the export */
    struct device_list devices;
    char device_name[DEVICE_LIST_NAME_SIZE];
    int kernel_count;
    struct timed_kernel kernels[TIMED_MAX];
    struct shape of_run[TIMED_MAX]; /* of a champion its case */
    char texts[DISPATCH_KERNELS_MAX][GENOME_TEXT_SIZE];
    int shape_count;
    struct shape *shapes;
    double *us;         /* [shape][kernel] */
    double *operations; /* of a call: [shape][variant] */
    bool *admits;       /* the variant supports the shape: [shape][variant] */
    bool predicted;
    int failures; /* trials of the export's variants that failed */
};

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

static int read_kernels(struct regret_work *work, const char *devices, struct error *error) {
    struct device_info device;
    if (device_list_read(&work->devices, devices, error) < 0 ||
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

/* ---- the choice ---- */

static double time_of(const struct regret_work *work, int shape, int kernel) {
    return work->us[shape * work->kernel_count + kernel];
}

static bool admits(const struct regret_work *work, int shape, int variant) {
    return work->admits[shape * work->manifest.variant_count + variant];
}

/* As the launcher of an export without a tree: the variant tuned for the shape, else that of the
   case that is nearest in operations, among those that fit. */
static int choose_nearest(const struct regret_work *work, int shape) {
    const struct config *config = work->targets.config;
    int best = -1;
    double least = INFINITY;
    for (int c = 0; c < work->manifest.case_count; c++) {
        const int variant = work->manifest.cases[c].variant;
        if (memcmp(&config->cases[c], &work->shapes[shape], sizeof *work->shapes) == 0)
            return variant;
        const double ratio = work->operations[shape * work->manifest.variant_count + variant] /
                             work->manifest.cases[c].operations;
        const double distance = ratio < 1 ? 1 / ratio : ratio;
        if (admits(work, shape, variant) && (best < 0 || distance < least)) {
            best = variant;
            least = distance;
        }
    }
    return best;
}

/* The variant that the launcher chooses, which need not have passed its trial; -1: none. */
static int choose(const struct regret_work *work, int shape) {
    const struct tree *tree = work->manifest.tree;
    int64_t inputs[TREE_INPUTS_MAX];
    if (tree == NULL)
        return choose_nearest(work, shape);
    export_tree_inputs(tree, work->config->shapes, &work->shapes[shape], inputs);
    const unsigned char *order = tree_order(tree, inputs);
    for (int i = 0; i < tree->kernel_count; i++)
        if (admits(work, shape, order[i]))
            return order[i];
    return -1;
}

/* ---- what is printed ---- */

static const struct table_column columns[] = {
    {.name = "shape", .heading = "shape", .wrap = true},
    {.name = "variant", .heading = "chosen\nvariant", .right = true},
    {.name = "us", .heading = "us", .right = true},
    {.name = "fastest", .heading = "fastest"},
    {.name = "least_us", .heading = "its\nus", .right = true},
    {.name = "regret", .heading = "regret\nin %", .right = true},
};
enum { COLUMN_COUNT = sizeof columns / sizeof *columns };

static void add_row(const struct regret_work *work, int shape, int choice, int fastest,
                    struct table *table) {
    char name[CASE_NAME_SIZE], by[32], chosen[16];
    const double us = choice < 0 ? NAN : time_of(work, shape, choice);
    const double least = fastest < 0 ? NAN : time_of(work, shape, fastest);
    template_print_shape(work->config->shapes, &work->shapes[shape], name);
    snprintf(chosen, sizeof chosen, "%d", choice + 1);
    if (fastest >= work->manifest.variant_count)
        snprintf(by, sizeof by, "champion of the run");
    else
        snprintf(by, sizeof by, "variant %d", fastest + 1);
    table_add(table, "%s %s %.3f %s %.3f %.2f", name, choice < 0 ? "none" : chosen, us,
              fastest < 0 ? "none" : by, least, 100 * (us / least - 1));
}

/* Fills the table, and computes the regret of the shapes that a kernel fits. */
static struct regret find_regret(const struct regret_work *work, struct table *table, int *worst,
                                 int *unfit) {
    const struct kernel_times times = {work->kernel_count, work->shape_count, work->us};
    double *ratios = xmalloc((size_t)work->shape_count * sizeof *ratios);
    int *shapes = xmalloc((size_t)work->shape_count * sizeof *shapes), count = 0, unserved = 0;
    struct regret regret;
    *unfit = 0;
    for (int s = 0; s < work->shape_count; s++) {
        const int fastest = kernel_times_fastest(&times, s);
        const int choice = choose(work, s);
        const bool served = choice >= 0 && kernel_times_fits(&times, s, choice);
        add_row(work, s, choice, fastest, table);
        *unfit += fastest < 0;
        unserved += fastest >= 0 && !served;
        if (!served)
            continue;
        shapes[count] = s;
        ratios[count++] = kernel_times_ratio(&times, s, choice);
    }
    regret_compute(&regret, ratios, count, unserved, (uint64_t)work->request->seed);
    *worst = count > 0 ? shapes[regret.worst_case] : 0;
    free(ratios);
    free(shapes);
    return regret;
}

static void print_json(const struct regret_work *work, const struct regret *regret,
                       const char *worst, int unfit, const char *devices,
                       const struct table *table) {
    cJSON *object = cJSON_CreateObject();
    json_add(object, "kernel=%s against=%s device=%s predicted=%hhd unfit=%d failures=%d choice=%s",
             work->request->folder, work->request->against, devices, work->predicted, unfit,
             work->failures, work->manifest.tree != NULL ? "tree" : "operations");
    cJSON *figures = regret_json(regret);
    if (regret->count > 0)
        cJSON_AddStringToObject(figures, "worst_shape", worst);
    cJSON_AddItemToObject(object, "regret", figures);
    cJSON_AddItemToObject(object, "shapes", table_json(table));
    table_print_json(object, stdout);
}

static void print_text(const struct regret_work *work, const struct regret *regret,
                       const char *worst, int unfit, struct table *table) {
    if (work->predicted) { /* a prediction is never shown as a measurement */
        table_heading(table, "us", "us\npredicted");
        table_heading(table, "least_us", "its us\npredicted");
    }
    table_print(table, TABLE_TEXT, stdout);
    printf("\nregret at %d shape%s on %s%s, by %s: ", regret->count, regret->count == 1 ? "" : "s",
           work->device_name, work->predicted ? ", predicted" : "",
           work->manifest.tree != NULL ? "its tree" : "the nearest case in operations");
    if (regret->count > 0)
        dispatch_print_regret(regret, worst);
    else
        printf("not known\n");
    if (regret->unserved > 0)
        printf("shapes that get no kernel, or one that fails, though another one fits: %d\n",
               regret->unserved);
    if (unfit > 0)
        printf("shapes that no kernel fits: %d\n", unfit);
}

/* ---- the verb ---- */

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

static void release_work(struct regret_work *work) {
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

static int measure_regret(struct regret_work *work, struct error *error) {
    const struct regret_request *request = work->request;
    char worst[CASE_NAME_SIZE];
    int worst_shape, unfit;
    if (open_work(work, error) < 0)
        return -1;
    const char *devices = request->devices != NULL       ? request->devices
                          : work->has_run                ? work->run.device.spec
                          : work->targets.device != NULL ? work->targets.device
                                                         : "auto";
    if (read_shapes(work, error) < 0 || read_kernels(work, devices, error) < 0 ||
        measure(work, error) < 0)
        return -1;
    struct table *table = table_new(columns, COLUMN_COUNT);
    const struct regret regret = find_regret(work, table, &worst_shape, &unfit);
    template_print_shape(work->config->shapes, &work->shapes[worst_shape], worst);
    if (request->json)
        print_json(work, &regret, worst, unfit, devices, table);
    else
        print_text(work, &regret, worst, unfit, table);
    table_free(table);
    return work->failures == 0
               ? 0
               : error_refuse(error,
                              "%s: a kernel fails in %d of its trials: see the warnings above",
                              request->folder, work->failures);
}

static int run(const struct verb *verb, int argc, char **argv) {
    struct regret_request request = {.seed = 2};
    struct error error = {0};
    const struct option_row rows[] = {
        OPTION("cases", "N|FILE",
               "draw so many shapes from the ranges that the export records, or a file of shapes "
               "(default: the cases of --against)",
               &request.shapes),
        OPTION("against", "RUN", "a per_case run: its champions are timed at their cases, too",
               &request.against),
        OPTION("seed", "N", "of the shapes that are drawn, and of the intervals (default 2)",
               &request.seed),
        OPTION("rounds", "N",
               "trials of a kernel at a shape, of those near the fastest (default 2; of "
               "predictions 1)",
               &request.rounds),
        OPTION("device", "LIST",
               "auto, or a list of one model, which shares the shapes: cuda:all, cuda:0,cuda:2 or "
               "emulated:sm_XX (default: auto)",
               &request.devices),
        OPTION("json", NULL, "print one JSON object", &request.json),
        {0},
    };
    if (options_parse(verb, rows, argc, argv, 1, 1) < 0)
        return STATUS_USAGE;
    request.folder = argv[0];
    signal(SIGPIPE, SIG_IGN);
    int status = 0;
    if (request.rounds > 100)
        status = error_input(&error, "--rounds must be at most 100");
    if (status == 0) {
        struct regret_work *work = xcalloc(1, sizeof *work);
        work->request = &request;
        status = measure_regret(work, &error);
        release_work(work);
    }
    return status < 0 ? error_report(&error) : STATUS_DONE;
}

const struct verb verb_regret = {
    .name = "regret",
    .arguments = "KERNEL_DIR --cases N|FILE [options]",
    .summary = "measure how much slower an export's choices are than its fastest kernels",
    VERB_HELP(regret),
    .run = run,
};
