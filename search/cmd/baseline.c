/* baseline: times what a user would run instead of the kernel on the cases of a run, and stores the
   results with the run. */
#include "base/log.h"
#include "base/statistics.h"
#include "cmd/cmd.h"
#include "cmd/session.h"
#include "cmd/table.h"
#include "cmd/yardstick.h"
#include "trial/measure.h"

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

struct measuring {
    struct store *store; /* NULL for a config: the results are only printed */
    struct config *config;
    struct device_info device;
    struct baseline *baseline;
    struct yardstick *yardstick;
};

/* ---- timing ---- */

/* The number of `samples` that are taken at placement `index`. As for candidates (timing.c), the
   samples are divided among several memory placements, because the addresses of the tensors affect
   latency. */
static int share(int samples, int placements, int index) {
    return samples * (index + 1) / placements - samples * index / placements;
}

static int time_placement(struct measuring *it, int implementation, const cJSON *shape, int index,
                          struct yardstick_figure *figure, struct error *error) {
    const struct timing *timing = &it->config->timing;
    const struct baseline_capture how = {.launches = timing->launches, .sets = timing->input_sets};
    struct latency *warm = &figure->warm;
    int warm_now = share(timing->samples, timing->placements, index);
    int cold_now = index == 0 ? COLD_SAMPLES : 0;
    int status = baseline_capture(it->baseline, implementation, shape, &how, figure->unable, error);
    if (status != 0)
        return status;
    if ((warm_now > 0 && baseline_warm(it->baseline, timing->warmup_ms * 1000, warm_now,
                                       warm->samples_us + warm->sample_count, error) < 0) ||
        (cold_now > 0 && baseline_cold(it->baseline, cold_now, figure->cold.samples_us, error) < 0))
        return -1;
    warm->sample_count += warm_now;
    figure->cold.sample_count += cold_now;
    return 0;
}

static int time_case(struct measuring *it, int index, struct error *error) {
    const struct template *shapes = it->config->shapes;
    const struct shape *shape = &it->config->cases[index];
    struct yardstick_case *to = &it->yardstick->cases[index];
    cJSON *object = template_shape_json(shapes, shape);
    int status = 0;
    to->fastest = -1;
    template_print_shape(shapes, shape, to->name);
    log_info("%s: %s", baseline_name(it->baseline), to->name);
    for (int i = 0; i < baseline_count(it->baseline) && status >= 0; i++) {
        struct yardstick_figure *figure = &to->figures[to->count++];
        snprintf(figure->name, sizeof figure->name, "%s", baseline_implementation(it->baseline, i));
        status = 0;
        for (int p = 0; p < it->config->timing.placements && status == 0; p++)
            status = time_placement(it, i, object, p, figure, error);
        if (status != 0)
            continue;
        latency_summarise(&figure->warm);
        latency_summarise(&figure->cold);
        if (to->fastest < 0 || figure->warm.p50_us < to->figures[to->fastest].warm.p50_us)
            to->fastest = i;
    }
    cJSON_Delete(object);
    return status < 0 ? -1 : 0;
}

static int time_all(struct measuring *it, struct error *error) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    it->baseline = baseline_open(&it->config->baseline, &it->device, error);
    if (it->baseline == NULL)
        return -1;
    it->yardstick = yardstick_new();
    it->yardstick->measured = (double)now.tv_sec;
    snprintf(it->yardstick->name, sizeof it->yardstick->name, "%s", baseline_name(it->baseline));
    snprintf(it->yardstick->device, sizeof it->yardstick->device, "%s", it->device.name);
    it->yardstick->case_count = it->config->case_count;
    for (int c = 0; c < it->config->case_count; c++)
        if (time_case(it, c, error) < 0)
            return -1;
    return 0;
}

/* ---- printing ---- */

static void add_case(struct table *table, const struct yardstick_case *results) {
    for (int i = 0; i < results->count; i++) {
        const struct yardstick_figure *figure = &results->figures[i];
        bool able = figure->unable[0] == '\0';
        table_text(table, results->name);
        table_text(table, figure->name);
        table_number(table, able ? figure->warm.p50_us : NAN, 2);
        table_number(table, able ? figure->warm.p90_us : NAN, 2);
        table_number(table, able ? figure->cold.p50_us : NAN, 2);
        table_number(table, able ? figure->cold.p90_us : NAN, 2);
        table_text(table, !able ? figure->unable : i == results->fastest ? "fastest" : "");
    }
}

static void print(const struct yardstick *yardstick, bool json, bool markdown) {
    if (json) {
        table_print_json(yardstick_json(yardstick), stdout);
        return;
    }
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    for (int c = 0; c < yardstick->case_count; c++)
        add_case(table, &yardstick->cases[c]);
    printf("%s on %s\n\n", yardstick->name, yardstick->device);
    table_print(table, markdown ? TABLE_MARKDOWN : TABLE_TEXT, stdout);
    table_free(table);
}

/* ---- the verb ---- */

/* Reads the run's config and device. Keeps the run locked, so that no search of this run uses the
   GPU during timing. */
static int open_run(struct measuring *it, const char *run_dir, char **device, struct error *error) {
    char config_path[PATH_SIZE];
    char template_folder[PATH_SIZE];
    it->store = store_open(run_dir, STORE_WRITE, error);
    if (it->store == NULL || session_files(run_dir, config_path, template_folder, error) < 0 ||
        store_meta_get(it->store, "device", device, error) < 0)
        return -1;
    char *text = path_read_file(config_path, 64 << 20, NULL, error);
    if (text == NULL)
        return -1;
    it->config = config_from_text(config_path, text, template_folder, error);
    free(text);
    return it->config != NULL ? 0 : -1;
}

static int open_config(struct measuring *it, const char *path, char **device, struct error *error) {
    it->config = config_load(path, NULL, error);
    if (it->config == NULL)
        return -1;
    *device = strdup(it->config->device);
    return 0;
}

static int run(const struct verb *verb, int argc, char **argv) {
    const char *spec = NULL;
    const char *python = NULL;
    bool json = false;
    bool markdown = false;
    char *recorded = NULL;
    struct measuring it = {0};
    const struct option_row rows[] = {
        {"python", "PROGRAM", "Python interpreter for the baseline's script", OPTION_TEXT, &python},
        {"device", "SPEC", "cuda:N (default: the device of the run or config)", OPTION_TEXT, &spec},
        {"json", NULL, "print one JSON object", OPTION_FLAG, &json},
        {"markdown", NULL, "print a Markdown table", OPTION_FLAG, &markdown},
        {0},
    };
    struct error error = {0};
    if (options_parse(verb, rows, argc, argv, 1, 1) < 0)
        return STATUS_USAGE;
    signal(SIGPIPE, SIG_IGN);
    int status = path_is_dir(argv[0]) ? open_run(&it, argv[0], &recorded, &error)
                                      : open_config(&it, argv[0], &recorded, &error);
    if (status == 0 && python != NULL)
        status = baseline_command_set_python(&it.config->baseline, python, &error);
    if (status == 0)
        status = device_describe(spec != NULL       ? spec
                                 : recorded != NULL ? recorded
                                                    : "auto",
                                 &it.device, &error);
    if (status == 0)
        status = time_all(&it, &error);
    if (status == 0 && it.store != NULL)
        status = yardstick_write(it.store, it.yardstick, &error);
    if (status == 0)
        print(it.yardstick, json, markdown);
    free(recorded);
    yardstick_free(it.yardstick);
    baseline_close(it.baseline);
    config_free(it.config);
    store_close(it.store);
    return status < 0 ? error_report(&error) : STATUS_DONE;
}

const struct verb verb_baseline = {
    .name = "baseline",
    .arguments = "RUN|CONFIG [options]",
    .summary = "time what a user would run instead, such as PyTorch",
    VERB_HELP(baseline),
    .run = run,
};
