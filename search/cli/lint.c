/* lint: checks a template beyond what a trial checks, and its judge by mutants. */
#include "lint/lint.h"

#include "base/memory.h"
#include "base/path.h"
#include "base/sandbox.h"
#include "base/strbuf.h"
#include "cli/cli.h"
#include "render/table.h"
#include "session/image_cache.h"

#include <signal.h>
#include <string.h>

enum { MUTANTS_DEFAULT = 12, MUTANTS_MAX = 1000 };

static const char *const result_names[] = {
    [LINT_FINE] = "ok", [LINT_NOTE] = "note", [LINT_WRONG] = "WRONG"};

static struct table *findings_table(const struct lint *lint) {
    static const struct table_column columns[] = {
        {.name = "check", .heading = "check"},
        {.name = "subject", .heading = "of"},
        {.name = "result", .heading = "result"},
        {.name = "text", .heading = "", .wrap = true},
    };
    struct table *table = table_new(columns, 4);
    for (int i = 0; i < lint_count(lint); i++) {
        const struct lint_finding *finding = lint_finding(lint, i);
        char subject[LINT_SUBJECT_SIZE], text[LINT_TEXT_SIZE];
        snprintf(subject, sizeof subject, "%s", finding->subject);
        snprintf(text, sizeof text, "%s", finding->text);
        text_escape(subject, sizeof subject, false);
        text_escape(text, sizeof text, false);
        table_add(table, "%s %s %s %s", finding->check, subject, result_names[finding->result],
                  text);
    }
    return table;
}

/* "11 of 12 mutants caught; not caught: a dropped store, kernel.cu:12". */
static char *print_summary(const struct lint *lint) {
    const struct lint_mutants mutants = lint_mutants(lint);
    struct strbuf text = {0};
    const char *before = "; not caught: ";
    strbuf_print(&text, "%d of %d mutants caught", mutants.caught,
                 mutants.caught + mutants.survived);
    for (int i = 0; i < lint_count(lint); i++) {
        const struct lint_finding *finding = lint_finding(lint, i);
        if (finding->result != LINT_WRONG || strcmp(finding->check, "mutants") != 0)
            continue;
        strbuf_print(&text, "%s%s", before, finding->subject);
        before = "; ";
    }
    if (mutants.equivalent > 0)
        strbuf_print(&text, "; %d more without effect", mutants.equivalent);
    if (mutants.never_ran > 0)
        strbuf_print(&text, "; %d more in code that never ran", mutants.never_ran);
    return text.bytes;
}

static void print_findings(const struct lint *lint, const char *template, const char *device,
                           bool json) {
    struct table *table = findings_table(lint);
    char *summary = print_summary(lint);
    const struct lint_mutants mutants = lint_mutants(lint);
    if (json) {
        cJSON *object = cJSON_CreateObject();
        json_add(object,
                 "template=%s device=%s wrong=%hhd summary=%s caught=%d not_caught=%d "
                 "without_effect=%d never_ran=%d",
                 template, device, lint_is_wrong(lint), summary, mutants.caught, mutants.survived,
                 mutants.equivalent, mutants.never_ran);
        cJSON_AddItemToObject(object, "findings", table_json(table));
        table_print_json(object, stdout);
    } else {
        printf("%s on %s\n", template, device);
        table_print(table, TABLE_TEXT, stdout);
        if (mutants.caught + mutants.survived + mutants.equivalent + mutants.never_ran > 0)
            printf("\n%s\n", summary);
    }
    free(summary);
    table_free(table);
}

/* A folder, or a name that is no file, is a template's. */
static struct config *load_config(const char *path, const char *templates, struct error *error) {
    char *folder = xmalloc(PATH_SIZE);
    char *text = NULL;
    struct config *config = NULL;
    if (config_path_is_recorded_space(path) || (path_exists(path) && !path_is_dir(path)))
        config = config_load(path, templates, error);
    else {
        snprintf(folder, PATH_SIZE, "%s", path);
        if (template_is_folder(folder) || template_find(folder, path, templates, error) == 0)
            text = lint_config_text(folder, error);
        if (text != NULL)
            config = config_from_text(path, text, NULL, error);
        if (text != NULL && config == NULL)
            error_prefix(error, "%s has no case that can be looked at by itself: write a config",
                         path);
    }
    free(text);
    free(folder);
    return config;
}

/* An emulated device: that of the architecture of a config's GPU. */
static int choose_device(const struct config *config, const char *given, char spec[64],
                         struct error *error) {
    const char *wanted = given != NULL ? given : config->device;
    struct device_info info;
    if (given != NULL && strncmp(given, "emulated:", strlen("emulated:")) != 0)
        return error_input(error,
                           "%s cannot run mutants: `lint` needs an emulated device: --device "
                           "emulated:sm_90",
                           given);
    if (strncmp(wanted, "emulated:", strlen("emulated:")) == 0) {
        snprintf(spec, 64, "%.*s", (int)strcspn(wanted, ","), wanted);
        return 0;
    }
    if (device_describe("auto", &info, error) < 0)
        return -1;
    snprintf(spec, 64, "emulated:sm_%d", info.compute_capability);
    return 0;
}

static int choose_goal(const struct config *config, const char *device, const char *solution,
                       int64_t goal, int *chosen, struct error *error) {
    const char *any_genes = "";
    struct device_info info;
    if (goal >= config_goal_count(config))
        return error_input(error,
                           "there is no goal %lld: %s has %d, counted from 0: give another "
                           "--goal",
                           (long long)goal, config->path, config_goal_count(config));
    return device_describe(device, &info, error) < 0
               ? -1
               : config_genome_goal(config, &info, goal, solution, &any_genes, chosen, error);
}

static int lint_config(const struct config *config, const char *device, int64_t goal,
                       const char *solution, int mutants, bool json, struct error *error) {
    struct cache *cache = cache_new(NULL, 0);
    const char *const folders[] = {cache_folder(cache), "/dev/null", "/dev/shm", NULL};
    const struct image_cache images = image_cache_on_disk(cache);
    struct lint *lint = NULL;
    char spec[64];
    int chosen = 0, status = -1;
    if (choose_device(config, device, spec, error) == 0 &&
        choose_goal(config, spec, solution, goal, &chosen, error) == 0) {
        sandbox_enter(true, folders);
        lint = lint_new(config, chosen, spec, &images, error);
    }
    if (lint != NULL && lint_run(lint, mutants, error) == 0) {
        print_findings(lint, config->shapes->name, spec, json);
        status = lint_is_wrong(lint) ? STATUS_GATE : STATUS_DONE;
    }
    lint_free(lint);
    cache_free(cache);
    return status;
}

static int run(const struct verb *verb, int argc, char **argv) {
    const char *device = NULL, *templates = NULL, *solution = NULL;
    int64_t goal = -1, mutants = MUTANTS_DEFAULT;
    bool json = false;
    const struct option_row rows[] = {
        OPTION("mutants", "N", "mutants to try that have an effect; 0: none (default 12)",
               &mutants),
        OPTION("goal", "K", "case of a per_case config, from 0 (default 0)", &goal),
        OPTION("solution", "NAME", "of several solutions, this one (default: the first)",
               &solution),
        OPTION("device", "SPEC", "emulated:sm_XX (default: that of the config's device)", &device),
        OPTION("templates", "DIR", "folder that is searched for templates first", &templates),
        OPTION("json", NULL, "print one JSON object", &json),
        {0},
    };
    struct error error = {0};
    if (options_parse(verb, rows, argc, argv, 1, 1) < 0)
        return STATUS_USAGE;
    signal(SIGPIPE, SIG_IGN);
    if (mutants > MUTANTS_MAX) {
        error_input(&error, "--mutants is at most %d", MUTANTS_MAX);
        return error_report(&error);
    }
    struct config *config = load_config(argv[0], templates, &error);
    int status = -1;
    if (config != NULL && !template_has_kernel(config->shapes))
        error_input(&error, "%s holds measurements, not a kernel to lint", argv[0]);
    else if (config != NULL)
        status = lint_config(config, device, goal, solution, (int)mutants, json, &error);
    config_free(config);
    return status < 0 ? error_report(&error) : status;
}

const struct verb verb_lint = {
    .name = "lint",
    .arguments = "TEMPLATE|CONFIG [options]",
    .summary = "find mistakes in a template that a trial does not, also by mutants",
    VERB_HELP(lint),
    .run = run,
};
