/* regret: measures how much slower the kernels that an export's launcher chooses are than the
   fastest of its variants, and of the champions of a run. */
#include "dispatch/regret.h"
#include "base/memory.h"
#include "cli/cli.h"
#include "cli/regret_work.h"
#include "render/table.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

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
                       const char *worst, int unfit, const struct table *table) {
    cJSON *object = cJSON_CreateObject();
    json_add(object, "kernel=%s against=%s device=%s predicted=%hhd unfit=%d failures=%d choice=%s",
             work->request->folder, work->request->against, work->device_text, work->predicted,
             unfit, work->failures, work->manifest.tree != NULL ? "tree" : "operations");
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
static int measure_regret(struct regret_work *work, struct error *error) {
    const struct regret_request *request = work->request;
    char worst[CASE_NAME_SIZE];
    int worst_shape, unfit;
    if (regret_measure_times(work, error) < 0)
        return -1;
    struct table *table = table_new(columns, COLUMN_COUNT);
    const struct regret regret = find_regret(work, table, &worst_shape, &unfit);
    template_print_shape(work->config->shapes, &work->shapes[worst_shape], worst);
    if (request->json)
        print_json(work, &regret, worst, unfit, table);
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
        regret_release(work);
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
