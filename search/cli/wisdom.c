/* wisdom: keeps the champions of many runs in one store, and packs them for libevotile_wisdom. */
#include "wisdom/wisdom.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/signature.h"
#include "base/spelling.h"
#include "cli/cli.h"
#include "cli/export_code.h"
#include "cli/export_run.h"
#include "device/device.h"
#include "device/kernel_names.h"
#include "render/table.h"
#include "wisdom/evotile_wisdom.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SOURCES_MAX = 64 };

struct wisdom_options {
    const char *store, *out, *sign_key, *templates, *device;
    bool json;
};

static void say_counts(const char *source, const struct wisdom_counts *counts) {
    log_info("%s: figures: %d added, %d replaced by better measured ones, %d left out because the "
             "stored ones are better measured",
             source, counts->added, counts->better, counts->kept);
}

/* ---- add ---- */

/* The compiler of a kernel's names, which is opened when one is asked for. */
static int compile_names(void *context, const struct template *template,
                         const struct genome *genome, int case_index, char **names,
                         struct error *error) {
    struct nvrtc **nvrtc = context;
    struct device_image image = {0};
    if (*nvrtc == NULL)
        *nvrtc = nvrtc_open(error);
    if (*nvrtc == NULL ||
        export_compile_genome(*nvrtc, template, genome, case_index, &image, error) < 0)
        return -1;
    *names = kernel_names_copy(image.kernels);
    nvrtc_image_release(&image);
    return 0;
}

/* A run is exported first, to a folder that is removed again: whatever is added has passed the
   checks of an export. */
static int add_run(struct wisdom_store *store, const char *run, const struct wisdom_names *names,
                   struct wisdom_counts *counts, struct error *error) {
    const char *temporary = getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp";
    char scratch[PATH_SIZE], folder[PATH_SIZE];
    struct error ignored;
    if (path_join(scratch, temporary, "evotile-wisdom-XXXXXX", error) < 0)
        return -1;
    if (mkdtemp(scratch) == NULL)
        return error_set(error, "cannot make a folder in %s: set TMPDIR to one that can be written",
                         temporary);
    int status = path_join(folder, scratch, "champions", error);
    if (status == 0)
        status = export_champions(run, folder, error);
    if (status == 0)
        status = wisdom_add(store, folder, names, counts, error);
    path_remove_tree(scratch, &ignored);
    return status;
}

static int add(const struct wisdom_options *options, struct wisdom_store *store, char **sources,
               int count, struct error *error) {
    struct nvrtc *nvrtc = NULL;
    const struct wisdom_names names = {compile_names, &nvrtc};
    int status = 0;
    for (int i = 0; i < count && status == 0; i++) {
        struct wisdom_counts counts = {0};
        char manifest[PATH_SIZE];
        status = path_join(manifest, sources[i], "manifest.json", error);
        if (status == 0)
            status = path_exists(manifest) ? wisdom_add(store, sources[i], &names, &counts, error)
                                           : add_run(store, sources[i], &names, &counts, error);
        if (status == 0)
            say_counts(sources[i], &counts);
    }
    nvrtc_close(nvrtc);
    (void)options;
    return status;
}

static int merge(const struct wisdom_options *options, struct wisdom_store *store, char **sources,
                 int count, struct error *error) {
    (void)options;
    for (int i = 0; i < count; i++) {
        struct wisdom_counts counts = {0};
        if (wisdom_merge(store, sources[i], &counts, error) < 0)
            return -1;
        say_counts(sources[i], &counts);
    }
    return 0;
}

/* ---- list ---- */

/* Without what is not known. */
static void add_known(cJSON *object, const char *key, double number) {
    if (number > 0)
        cJSON_AddNumberToObject(object, key, number);
}

static cJSON *figure_json(const struct wisdom_figure *figure) {
    cJSON *object = cJSON_CreateObject();
    json_add(object,
             "template=%s template_hash=%s solution=%s case=%s device=%s compute_capability=%d "
             "sm_count=%d driver=%s toolkit=%s genome=%s architecture=%s code=%s p50_us=%g "
             "predicted=%hhd checks=%s conditions=%s stale=%s checked_driver=%s",
             figure->template_name, figure->template_hash, figure->solution, figure->case_name,
             figure->device, (int)figure->compute_capability, (int)figure->sm_count, figure->driver,
             figure->toolkit, figure->genome, figure->architecture, figure->code, figure->p50_us,
             (bool)figure->predicted, figure->checks, figure->conditions, figure->stale,
             figure->checked_driver);
    add_known(object, "p10_us", figure->p10_us);
    add_known(object, "p90_us", figure->p90_us);
    add_known(object, "low_us", figure->low_us);
    add_known(object, "high_us", figure->high_us);
    add_known(object, "measured_at", (double)figure->measured_at);
    add_known(object, "checked_at", (double)figure->checked_at);
    add_known(object, "checked_us", figure->checked_us);
    return object;
}

static void print_table(const struct wisdom_figures *figures) {
    static const struct table_column columns[] = {{.name = "template", .heading = "template"},
                                                  {.name = "case", .heading = "case"},
                                                  {.name = "device", .heading = "device"},
                                                  {.name = "sms", .heading = "SMs", .right = true},
                                                  {.name = "driver", .heading = "driver"},
                                                  {.name = "us", .heading = "us", .right = true},
                                                  {.name = "interval", .heading = "interval"},
                                                  {.name = "measured", .heading = "measured"},
                                                  {.name = "state", .heading = "state"}};
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < figures->count; i++) {
        const struct wisdom_figure *figure = &figures->items[i];
        char interval[64] = "", day[32] = "", us[48];
        const time_t when = (time_t)figure->measured_at;
        struct tm date;
        if (figure->high_us > 0)
            snprintf(interval, sizeof interval, "%.3f to %.3f", figure->low_us, figure->high_us);
        snprintf(us, sizeof us, "%.3f%s", figure->p50_us, figure->predicted ? " predicted" : "");
        if (figure->measured_at > 0 && gmtime_r(&when, &date) != NULL)
            strftime(day, sizeof day, "%Y-%m-%d", &date);
        table_add(table, "%s %s %s %d %s %s %s %s %s", figure->template_name, figure->case_name,
                  figure->device, (int)figure->sm_count, figure->driver, us, interval, day,
                  figure->stale[0] != '\0' ? figure->stale : "");
    }
    table_print(table, TABLE_TEXT, stdout);
    table_free(table);
}

static int list(const struct wisdom_options *options, struct wisdom_store *store, char **sources,
                int count, struct error *error) {
    struct wisdom_figures figures;
    (void)sources;
    (void)count;
    if (wisdom_store_read(store, &figures, error) < 0)
        return -1;
    if (options->json) {
        cJSON *object = cJSON_CreateObject();
        cJSON *array = cJSON_AddArrayToObject(object, "figures");
        for (int i = 0; i < figures.count; i++)
            cJSON_AddItemToArray(array, figure_json(&figures.items[i]));
        table_print_json(object, stdout);
    } else {
        print_table(&figures);
    }
    wisdom_figures_release(&figures);
    return 0;
}

/* ---- gc ---- */

static int collect(const struct wisdom_options *options, struct wisdom_store *store, char **sources,
                   int count, struct error *error) {
    struct wisdom_counts counts = {0};
    struct device_info device;
    (void)sources;
    (void)count;
    if (device_describe(options->device != NULL ? options->device : "auto", &device, error) < 0 ||
        wisdom_collect(store, options->templates, &device, &counts, error) < 0)
        return -1;
    log_info("figures removed: %d", counts.removed);
    return 0;
}

/* ---- pack ---- */

/* Whatever is written is what the library takes. */
static int check_file(const char *path, struct error *error) {
    struct evotile_wisdom *wisdom;
    struct evotile_wisdom_message message;
    if (evotile_wisdom_load(&wisdom, path, &message) != 0)
        return error_set(error, "%s", message.text);
    evotile_wisdom_free(wisdom);
    return 0;
}

static int pack(const struct wisdom_options *options, struct wisdom_store *store, char **sources,
                int count, struct error *error) {
    struct wisdom_counts counts = {0};
    struct strbuf file = {0};
    (void)sources;
    (void)count;
    int status = wisdom_pack(store, &counts, &file, error);
    if (status == 0)
        status = path_write_file(options->out, file.bytes, file.used, error);
    if (status == 0)
        status = check_file(options->out, error);
    if (status == 0 && options->sign_key != NULL)
        status = signature_write(options->sign_key, options->out, error);
    if (status == 0) {
        if (counts.left_out > 0)
            log_warn("%d figures are left out: the dimensions or tensors of their template changed "
                     "since; `evotile wisdom gc` removes them",
                     counts.left_out);
        log_info("%s: entries: %d, bytes: %zu", options->out, counts.added, file.used);
    }
    strbuf_release(&file);
    return status;
}

/* ---- the verb ---- */

static const struct action {
    const char *name, *sources; /* sources: what its arguments are; NULL: it has none */
    enum store_mode mode;
    int (*run)(const struct wisdom_options *options, struct wisdom_store *store, char **sources,
               int count, struct error *error);
} actions[] = {
    {"add", "RUN or KERNEL_DIR", STORE_WRITE, add},
    {"list", NULL, STORE_READ, list},
    {"merge", "another store", STORE_WRITE, merge},
    {"gc", NULL, STORE_WRITE, collect},
    {"pack", NULL, STORE_READ, pack},
};
enum { ACTION_COUNT = sizeof actions / sizeof *actions };

static const struct action *find_action(const char *name) {
    const char *names[ACTION_COUNT];
    for (int i = 0; i < ACTION_COUNT; i++) {
        if (strcmp(actions[i].name, name) == 0)
            return &actions[i];
        names[i] = actions[i].name;
    }
    fprintf(
        stderr,
        "evotile: wisdom: there is no \"%s\"; did you mean %s? `evotile help wisdom` lists all\n",
        name, spelling_nearest(name, names, ACTION_COUNT));
    return NULL;
}

static int check_arguments(const struct action *action, const struct wisdom_options *options,
                           int count) {
    if (action->sources == NULL && count > 0)
        fprintf(stderr, "evotile: wisdom %s takes no argument but options\n", action->name);
    else if (action->sources != NULL && count == 0)
        fprintf(stderr, "evotile: wisdom %s: give %s\n", action->name, action->sources);
    else if ((action->run == pack) != (options->out != NULL))
        fprintf(stderr, "evotile: wisdom %s: --out FILE is %s\n", action->name,
                action->run == pack ? "missing" : "of wisdom pack alone");
    else if (options->sign_key != NULL && action->run != pack)
        fprintf(stderr, "evotile: wisdom %s: --sign is of wisdom pack alone\n", action->name);
    else
        return 0;
    return -1;
}

static int run(const struct verb *verb, int argc, char **argv) {
    struct wisdom_options options = {0};
    const struct option_row rows[] = {
        OPTION("store", "FILE",
               "the store (default: $EVOTILE_WISDOM, else wisdom.db in the data folder)",
               &options.store),
        OPTION("out", "FILE", "pack: the file to write", &options.out),
        OPTION("sign", "KEYFILE", "pack: sign the file with this secret key of minisign",
               &options.sign_key),
        OPTION("templates", "DIR", "gc: folder that is searched for templates first",
               &options.templates),
        OPTION("device", "SPEC", "gc: whose driver counts: auto, cuda:N or emulated:sm_XX",
               &options.device),
        OPTION("json", NULL, "list: print one JSON object", &options.json),
        {0},
    };
    struct error error = {0};
    char path[PATH_SIZE];
    const int count = options_parse(verb, rows, argc, argv, 1, 1 + SOURCES_MAX);
    const struct action *action = count >= 1 ? find_action(argv[0]) : NULL;
    if (action == NULL || check_arguments(action, &options, count - 1) < 0)
        return STATUS_USAGE;
    signal(SIGPIPE, SIG_IGN);
    if (wisdom_store_path(options.store, path, &error) < 0)
        return error_report(&error);
    struct wisdom_store *store = wisdom_store_open(path, action->mode, &error);
    const int status =
        store != NULL ? action->run(&options, store, argv + 1, count - 1, &error) : -1;
    wisdom_store_close(store);
    return status < 0 ? error_report(&error) : STATUS_DONE;
}

const struct verb verb_wisdom = {
    .name = "wisdom",
    .arguments = "add|list|merge|gc|pack [RUN|KERNEL_DIR|STORE ...] [options]",
    .summary = "keep champions by device and shape, and pack them for programs",
    VERB_HELP(wisdom),
    .run = run,
};
