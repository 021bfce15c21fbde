/* suggest: the genome that a model of earlier runs holds best for a case, without a search. */
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "cli/cli.h"
#include "config/change.h"
#include "render/table.h"
#include "session/learn_from.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct suggest_request {
    const char *config, *shape, *learn_from, *device, *templates;
    bool json;
};

/* All that a suggestion for one goal is made of. */
struct goal_view {
    const struct config *config;
    const struct device_info *device;
    int goal;
    struct template *template;
    struct source *sources;
    int source_count;
    struct suggestion suggestion;
};

/* ---- the case ---- */

/* "B=3,H=12" as {"B": 3, "H": 12}; the config's reader checks names and values. NULL with `error`.
 */
static cJSON *parse_shape(const char *text, struct error *error) {
    cJSON *shape = cJSON_CreateObject();
    struct gene_words words;
    int read;
    while ((read = genome_read_gene(&text, &words)) == 1) {
        char name[NAME_SIZE], value[NAME_SIZE], *end;
        snprintf(name, sizeof name, "%.*s", words.name.length, words.name.text);
        snprintf(value, sizeof value, "%.*s", words.value.length, words.value.text);
        const double number = strtod(value, &end);
        if (words.value.length >= NAME_SIZE || *end != '\0' || end == value || !isfinite(number))
            read = error_input(error, "--case: %s=%s is no number", name, value);
        else if (cJSON_HasObjectItem(shape, name))
            read = error_input(error, "--case: dimension %s is given twice", name);
        if (read < 0)
            break;
        cJSON_AddNumberToObject(shape, name, number);
    }
    if (read == 0 && shape->child != NULL)
        return shape;
    if (error->kind == ERROR_NONE)
        error_input(error, "--case: write DIMENSION=NUMBER,...: B=3,H=12");
    cJSON_Delete(shape);
    return NULL;
}

/* Reads the config, with the case of --case as its only one. */
static struct config *read_config(const struct suggest_request *request, struct error *error) {
    struct config *config = config_load(request->config, request->templates, error);
    if (config == NULL || request->shape == NULL)
        return config;
    cJSON *changes = cJSON_CreateObject(), *shape = parse_shape(request->shape, error);
    if (shape == NULL) {
        config_free(config);
        config = NULL;
    } else {
        cJSON *cases = cJSON_AddArrayToObject(changes, "cases");
        cJSON_AddItemToArray(cases, shape);
        config = config_change(config, changes, error);
    }
    cJSON_Delete(changes);
    return config;
}

/* ---- what is printed ---- */

static const char *source_name(const struct goal_view *view, int source) {
    return view->sources[source].name;
}

static struct table *source_table(const struct goal_view *view) {
    static const struct table_column columns[] = {
        {.name = "source", .heading = "learned from", .wrap = true},
        {.name = "distance", .heading = "distance", .right = true},
        {.name = "trials", .heading = "trials", .right = true},
        {.name = "left_out", .heading = "left out", .right = true},
        {.name = "share", .heading = "share\nin %", .right = true},
    };
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    for (int s = 0; s < view->source_count; s++)
        table_add(table, "%s %.2f %d %d %.0f%%", source_name(view, s), view->sources[s].distance,
                  view->sources[s].row_count, view->sources[s].left_out,
                  view->suggestion.shares[s]);
    return table;
}

static struct table *nearest_table(const struct goal_view *view) {
    static const struct table_column columns[] = {
        {.name = "source", .heading = "nearest trials", .wrap = true},
        {.name = "us", .heading = "us", .right = true},
        {.name = "correlation", .heading = "alike", .right = true},
        {.name = "genome", .heading = "genome", .wrap = true},
    };
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < view->suggestion.near_count; i++) {
        const struct near_trial *trial = &view->suggestion.nearest[i];
        char genome[GENOME_TEXT_SIZE];
        genome_print(&trial->genome, view->template->space, genome);
        table_add(table, "%s %.3f %.2f %s", source_name(view, trial->source), trial->us,
                  trial->correlation, genome);
    }
    return table;
}

static struct table *gene_table(const struct goal_view *view) {
    static const struct table_column columns[] = {
        {.name = "gene", .heading = "gene that decides"},
        {.name = "value", .heading = "value"},
        {.name = "other", .heading = "next best"},
        {.name = "ratio", .heading = "times as slow", .right = true},
    };
    const struct space *space = view->template->space;
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < view->suggestion.gene_count; i++) {
        const struct deciding_gene *gene = &view->suggestion.genes[i];
        char value[NAME_SIZE], other[NAME_SIZE];
        table_add(
            table, "%s %s %s %.3f", space->genes[gene->gene].name,
            space_value_text(space, gene->gene, view->suggestion.genome.value[gene->gene], value),
            space_value_text(space, gene->gene, gene->other_value, other), gene->ratio);
    }
    return table;
}

static void print_text(const struct goal_view *view, struct table *const tables[3]) {
    char name[CASE_NAME_SIZE], genome[GENOME_TEXT_SIZE];
    const struct suggestion *suggestion = &view->suggestion;
    config_goal_name(view->config, view->goal, name);
    genome_print(&suggestion->genome, view->template->space, genome);
    printf("%s on %s\n  %s\n  predicted: %.3f us, from %.3f to %.3f us\n", name, view->device->name,
           genome, suggestion->us, suggestion->low_us, suggestion->high_us);
    for (int i = 0; i < 3; i++)
        if (table_row_count(tables[i]) > 0) {
            printf("\n");
            table_print(tables[i], TABLE_TEXT, stdout);
        }
}

static cJSON *goal_json(const struct goal_view *view, struct table *const tables[3]) {
    static const char *const keys[] = {"sources", "nearest", "genes"};
    char name[CASE_NAME_SIZE], genome[GENOME_TEXT_SIZE];
    cJSON *object = cJSON_CreateObject();
    config_goal_name(view->config, view->goal, name);
    genome_print(&view->suggestion.genome, view->template->space, genome);
    json_add(object, "goal=%s device=%s genome=%s predicted_us=%g low_us=%g high_us=%g", name,
             view->device->name, genome, view->suggestion.us, view->suggestion.low_us,
             view->suggestion.high_us);
    for (int i = 0; i < 3; i++)
        cJSON_AddItemToObject(object, keys[i], table_json(tables[i]));
    return object;
}

/* ---- the verb ---- */

/* Returns 1; 0 if a search leaves the goal out; or -1. */
static int suggest_goal(struct learn_from *learn, struct goal_view *view, struct error *error) {
    struct task tasks[SOURCES_MAX], target;
    struct problem why;
    char name[CASE_NAME_SIZE];
    config_goal_name(view->config, view->goal, name);
    view->template = config_load_template(view->config, view->goal, view->device, error);
    if (view->template == NULL)
        return -1;
    if (config_leaves_out(view->config, view->template->space, &why)) {
        log_info("%s is left out, because no genome is valid: %s", name, why.text);
        return 0;
    }
    view->source_count = learn_from_tasks(learn, view->config, view->goal, view->template,
                                          view->device, &view->sources, tasks, &target);
    if (view->source_count == 0)
        return error_input(error, "%s: no earlier run has a valid trial of this kernel", name);
    struct task_model *model =
        task_model_new(view->template->space, view->sources, tasks, view->source_count, &target);
    const bool found = task_model_suggest(model, view->config->seed, &view->suggestion);
    task_model_free(model);
    return found ? 1 : error_input(error, "%s: no genome is valid: see `evotile space`", name);
}

/* Prints what is suggested for a goal, or adds it to `goals`; `shown` counts those before. */
static int show_goal(struct learn_from *learn, struct goal_view *view, cJSON *goals, int *shown,
                     struct error *error) {
    const int suggested = suggest_goal(learn, view, error);
    if (suggested <= 0)
        return suggested;
    if ((*shown)++ > 0 && goals == NULL)
        printf("\n");
    struct table *const tables[] = {source_table(view), nearest_table(view), gene_table(view)};
    if (goals != NULL)
        cJSON_AddItemToArray(goals, goal_json(view, tables));
    else
        print_text(view, tables);
    for (int i = 0; i < 3; i++)
        table_free(tables[i]);
    return 0;
}

static int show_goals(const struct suggest_request *request, const struct config *config,
                      struct learn_from *learn, struct error *error) {
    const struct device_info *of_runs = learn_from_device(learn);
    struct device_info device;
    cJSON *root = cJSON_CreateObject();
    cJSON *goals = request->json ? cJSON_AddArrayToObject(root, "goals") : NULL;
    int status = 0, shown = 0;
    if (request->device == NULL && of_runs != NULL)
        device = *of_runs;
    else
        status = device_describe(request->device != NULL ? request->device : config->device,
                                 &device, error);
    for (int goal = 0; status == 0 && goal < config_goal_count(config); goal++) {
        struct goal_view view = {.config = config, .device = &device, .goal = goal};
        status = show_goal(learn, &view, goals, &shown, error);
        sources_free(view.sources, view.source_count);
        template_free(view.template);
    }
    if (status == 0 && shown == 0)
        status = error_input(error, "no genome of any solution is valid: see `evotile space`");
    if (status == 0 && request->json)
        table_print_json(root, stdout);
    else
        cJSON_Delete(root);
    return status;
}

/* Opens the runs that the user names; else those of the index, or, without any, those in results/.
 */
static struct learn_from *open_runs(const struct suggest_request *request,
                                    const struct config *config, struct error *error) {
    struct error ignored = {0};
    struct learn_from *indexed =
        request->learn_from == NULL ? learn_from_open_index(config, SOURCES_MAX, &ignored) : NULL;
    if (indexed != NULL && learn_from_device(indexed) != NULL)
        return indexed;
    learn_from_close(indexed);
    return learn_from_open(request->learn_from != NULL ? request->learn_from : "results", config,
                           error);
}

static int suggest(const struct suggest_request *request, struct error *error) {
    struct config *config = read_config(request, error);
    struct learn_from *learn = config != NULL ? open_runs(request, config, error) : NULL;
    int status = learn != NULL ? show_goals(request, config, learn, error) : -1;
    learn_from_close(learn);
    config_free(config);
    return status;
}

static int run(const struct verb *verb, int argc, char **argv) {
    struct suggest_request request = {0};
    struct error error = {0};
    const struct option_row rows[] = {
        OPTION("case", "SHAPE", "this case instead of the config's: B=3,H=12,S=640",
               &request.shape),
        OPTION("learn-from", "RUNS",
               "runs, folders of runs and recorded spaces, separated by commas (default: the runs "
               "of this host, or those in results)",
               &request.learn_from),
        OPTION("device", "SPEC",
               "auto, cuda:N or emulated:sm_XX (default: the device of the last run)",
               &request.device),
        OPTION("templates", "DIR", "folder that is searched for templates first",
               &request.templates),
        OPTION("json", NULL, "print one JSON object", &request.json),
        {0},
    };
    if (options_parse(verb, rows, argc, argv, 1, 1) < 0)
        return STATUS_USAGE;
    request.config = argv[0];
    return suggest(&request, &error) < 0 ? error_report(&error) : STATUS_DONE;
}

const struct verb verb_suggest = {
    .name = "suggest",
    .arguments = "CONFIG [options]",
    .summary = "predict the best genome for a case from earlier runs, without a search",
    VERB_HELP(suggest),
    .run = run,
};
