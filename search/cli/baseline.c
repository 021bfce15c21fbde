/* baseline: times what a user would run instead of the kernel on the cases of a run, and stores the
   results with the run. */
#include "base/log.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "cli/cli.h"
#include "evaluate/measure.h"
#include "evaluate/timing_budget.h"
#include "render/table.h"
#include "run/baseline_results.h"
#include "session/session.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <time.h>

enum { COLD_SAMPLES = 20 };

static const struct table_column columns[] = {
    {.name = "case", .heading = "case"},
    {.name = "implementation", .heading = "implementation"},
    {.name = "p50_us", .heading = "p50\nus", .right = true},
    {.name = "p90_us", .heading = "p90\nus", .right = true},
    {.name = "cold_p50_us", .heading = "cold\np50\nus", .right = true},
    {.name = "cold_p90_us", .heading = "cold\np90\nus", .right = true},
    {.name = "note", .heading = "", .wrap = true},
};

struct baseline_timing {
    struct store *store; /* NULL for a config: the results are only printed */
    struct config *config;
    struct device_info device;
    struct baseline *baseline;
    struct baseline_results *results;
};

/* ---- timing ---- */

/* The number of `samples` that are taken at placement `index`. As for candidates (timing.c), the
   samples are divided among several memory placements, because the addresses of the tensors affect
   latency. */
static int samples_of_placement(int samples, int placements, int index) {
    return samples * (index + 1) / placements - samples * index / placements;
}

/* A call that takes long has fewer samples, as that of a candidate. */
static int time_placement(struct baseline_timing *context, int implementation, const cJSON *shape,
                          int index, struct baseline_figure *figure, struct error *error) {
    const struct timing *timing = &context->config->timing;
    const struct baseline_capture how = {.launches = timing->launches, .sets = timing->input_sets};
    struct latency *warm = &figure->warm;
    double call_us;
    int launches;
    int status = baseline_capture_timed(context->baseline, implementation, shape, &how, &launches,
                                        &call_us, figure->unable, error);
    if (status != 0)
        return status;
    const struct timing_budget budget = timing_budget(timing, STAGE_FINAL, call_us, false);
    int warm_count = samples_of_placement(budget.samples, timing->placements, index);
    int cold_most = budget.cold_samples < COLD_SAMPLES ? budget.cold_samples : COLD_SAMPLES;
    int cold_count = index == 0 ? cold_most : 0;
    double warmup_us = call_us * launches < budget.warmup_us ? budget.warmup_us : 0;
    if ((warm_count > 0 && baseline_warm(context->baseline, warmup_us, warm_count,
                                         latency_reserve(warm, warm_count), error) < 0) ||
        (cold_count > 0 && baseline_cold(context->baseline, cold_count,
                                         latency_reserve(&figure->cold, cold_count), error) < 0))
        return -1;
    warm->sample_count += warm_count;
    figure->cold.sample_count += cold_count;
    return 0;
}

static int time_case(struct baseline_timing *context, int index, struct error *error) {
    const struct template *shapes = context->config->shapes;
    const struct shape *shape = &context->config->cases[index];
    struct baseline_case *figures = &context->results->cases[index];
    cJSON *object = template_shape_json(shapes, shape);
    int status = 0;
    figures->fastest = -1;
    template_print_shape(shapes, shape, figures->name);
    log_info("%s: %s", baseline_name(context->baseline), figures->name);
    for (int i = 0; i < baseline_count(context->baseline) && status >= 0; i++) {
        struct baseline_figure *figure = &figures->figures[figures->count++];
        snprintf(figure->name, sizeof figure->name, "%s",
                 baseline_implementation(context->baseline, i));
        status = 0;
        for (int p = 0; p < context->config->timing.placements && status == 0; p++)
            status = time_placement(context, i, object, p, figure, error);
        if (status != 0)
            continue;
        latency_summarise(&figure->warm);
        latency_summarise(&figure->cold);
        if (figures->fastest < 0 ||
            figure->warm.p50_us < figures->figures[figures->fastest].warm.p50_us)
            figures->fastest = i;
    }
    cJSON_Delete(object);
    return status < 0 ? -1 : 0;
}

static int time_all_cases(struct baseline_timing *context, struct error *error) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    context->baseline = baseline_open(&context->config->baseline, &context->device, error);
    if (context->baseline == NULL)
        return -1;
    context->results = baseline_results_new();
    context->results->measured = (double)now.tv_sec;
    snprintf(context->results->name, sizeof context->results->name, "%s",
             baseline_name(context->baseline));
    snprintf(context->results->device, sizeof context->results->device, "%s", context->device.name);
    context->results->case_count = context->config->case_count;
    for (int c = 0; c < context->config->case_count; c++)
        if (time_case(context, c, error) < 0)
            return -1;
    return 0;
}

/* ---- printing ---- */

static void add_case_rows(struct table *table, const struct baseline_case *results) {
    for (int i = 0; i < results->count; i++) {
        const struct baseline_figure *figure = &results->figures[i];
        bool is_able = figure->unable[0] == '\0';
        table_add(table, "%s %s %.2f %.2f %.2f %.2f %s", results->name, figure->name,
                  is_able ? figure->warm.p50_us : NAN, is_able ? figure->warm.p90_us : NAN,
                  is_able ? figure->cold.p50_us : NAN, is_able ? figure->cold.p90_us : NAN,
                  !is_able                ? figure->unable
                  : i == results->fastest ? "fastest"
                                          : "");
    }
}

static void print_results(const struct baseline_results *results, bool json, bool markdown) {
    if (json) {
        table_print_json(baseline_results_json(results), stdout);
        return;
    }
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    for (int c = 0; c < results->case_count; c++)
        add_case_rows(table, &results->cases[c]);
    printf("%s on %s\n\n", results->name, results->device);
    table_print(table, markdown ? TABLE_MARKDOWN : TABLE_TEXT, stdout);
    table_free(table);
}

/* ---- the verb ---- */

/* Reads the run's config and device. Keeps the run locked, so that no search of this run uses the
   GPU during timing. */
static int open_run(struct baseline_timing *context, const char *run_dir, char **device,
                    struct error *error) {
    context->store = store_open(run_dir, STORE_WRITE, error);
    if (context->store == NULL || store_meta_get(context->store, "device", device, error) < 0)
        return -1;
    context->config = run_dir_read_config(run_dir, error);
    return context->config != NULL ? 0 : -1;
}

static int open_config(struct baseline_timing *context, const char *path, char **device,
                       struct error *error) {
    context->config = config_load(path, NULL, error);
    if (context->config == NULL)
        return -1;
    *device = xstrdup(context->config->device);
    return 0;
}

static int run(const struct verb *verb, int argc, char **argv) {
    const char *spec = NULL;
    const char *python = NULL;
    bool json = false;
    bool markdown = false;
    char *recorded_device = NULL;
    struct baseline_timing context = {0};
    const struct option_row rows[] = {
        OPTION("python", "PROGRAM", "Python interpreter for the baseline's script", &python),
        OPTION("device", "SPEC", "cuda:N (default: the device of the run or config)", &spec),
        OPTION("json", NULL, "print one JSON object", &json),
        OPTION("markdown", NULL, "print a Markdown table", &markdown),
        {0},
    };
    struct error error = {0};
    if (options_parse(verb, rows, argc, argv, 1, 1) < 0)
        return STATUS_USAGE;
    signal(SIGPIPE, SIG_IGN);
    int status = path_is_dir(argv[0]) ? open_run(&context, argv[0], &recorded_device, &error)
                                      : open_config(&context, argv[0], &recorded_device, &error);
    if (status == 0 && python != NULL)
        status = baseline_command_set_python(&context.config->baseline, python, &error);
    if (status == 0)
        status = device_describe(spec != NULL              ? spec
                                 : recorded_device != NULL ? recorded_device
                                                           : "auto",
                                 &context.device, &error);
    if (status == 0)
        status = time_all_cases(&context, &error);
    if (status == 0 && context.store != NULL)
        status = baseline_results_write(context.store, context.results, &error);
    if (status == 0)
        print_results(context.results, json, markdown);
    free(recorded_device);
    baseline_results_free(context.results);
    baseline_close(context.baseline);
    config_free(context.config);
    store_close(context.store);
    return status < 0 ? error_report(&error) : STATUS_DONE;
}

const struct verb verb_baseline = {
    .name = "baseline",
    .arguments = "RUN|CONFIG [options]",
    .summary = "time what a user would run instead, such as PyTorch",
    VERB_HELP(baseline),
    .run = run,
};
