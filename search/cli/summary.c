/* summary: how a run found its champions: what each one changed and gained, the success of the
   operators, gene effects, reasons for failures, and scaling with work. Reads only the store. */
#include "analysis/ablation.h"
#include "analysis/run_history.h"
#include "cli/cli.h"
#include "outcome/scaling.h"

enum { REASONS = 8, ELITES = 5, GENE_EFFECTS = 8 };

struct summary {
    struct store *store;
    struct run_history *history;
    enum table_format format;
    cJSON *json; /* NULL for text or Markdown */
};

/* Prints the table under a title, or adds it to `to` as `name`; then frees it. -1 if `table` is
   NULL because it could not be read. */
static int print_table(const struct summary *summary, struct table *table, cJSON *object,
                       const char *name, const char *title) {
    if (table == NULL)
        return -1;
    if (object != NULL)
        cJSON_AddItemToObject(object, name, table_json(table));
    else if (table_row_count(table) > 0) {
        printf(summary->format == TABLE_MARKDOWN ? "\n### %s\n\n" : "\n%s\n", title);
        table_print(table, summary->format, stdout);
    }
    table_free(table);
    return 0;
}

/* Shows the stored ablation of the goal, which may be of an earlier champion. */
static int show_ablation(const struct summary *summary, int goal, cJSON *object,
                         struct error *error) {
    struct ablation *ablation;
    char title[128];
    int found = ablation_read(summary->store, goal, &ablation, error);
    if (found <= 0)
        return found;
    snprintf(title, sizeof title, "contribution of each gene of trial %lld%s",
             (long long)ablation->trial, ablation->predicted ? " (predicted)" : "");
    int status = print_table(summary, ablation_table(ablation), object, "ablation", title);
    ablation_free(ablation);
    return status;
}

static int show_goal(const struct summary *summary, int goal, cJSON *object, struct error *error) {
    bool predicted = false;
    struct table *champions = run_history_champions(summary->history, goal, &predicted, error);
    if (print_table(summary, champions, object, "champions",
                    predicted ? "champions, by predicted latency" : "champions") < 0)
        return -1;
    if (print_table(summary, run_history_elites(summary->history, goal, ELITES, error), object,
                    "elites", "the best") < 0)
        return -1;
    if (print_table(summary, run_history_gene_effects(summary->history, goal, GENE_EFFECTS, error),
                    object, "lessons", "gene effects: time with these values / expected time") < 0)
        return -1;
    return show_ablation(summary, goal, object, error);
}

static int show_goals(const struct summary *summary, struct error *error) {
    cJSON *goals = summary->json != NULL ? cJSON_AddArrayToObject(summary->json, "goals") : NULL;
    for (int goal = 0; goal < store_goal_count(summary->store); goal++) {
        cJSON *object = goals != NULL ? cJSON_CreateObject() : NULL;
        const char *name = store_goal_name(summary->store, goal);
        if (object != NULL) {
            cJSON_AddItemToArray(goals, object);
            cJSON_AddNumberToObject(object, "goal", goal);
            cJSON_AddStringToObject(object, "name", name);
        } else {
            printf(summary->format == TABLE_MARKDOWN ? "\n## goal %d: %s\n" : "\ngoal %d: %s\n",
                   goal, name);
        }
        if (show_goal(summary, goal, object, error) < 0)
            return -1;
    }
    return 0;
}

static int show_shapes(const struct summary *summary, struct error *error) {
    int shapes;
    struct table *table = run_history_scaling(summary->history, &shapes, error);
    if (summary->json == NULL && table != NULL && table_row_count(table) == 0 && shapes > 1)
        printf("\nscaling over %d shapes: time never grows more than %.1f times as fast as work\n",
               shapes, SCALING_LIMIT);
    return print_table(summary, table, summary->json, "shapes",
                       "cases whose time grows faster than their work");
}

static int print_summary(struct summary *summary, struct error *error) {
    struct run_history *history = summary->history;
    struct store_counts counts;
    char *device = NULL;
    if (store_count(summary->store, &counts, error) < 0 ||
        store_meta_get(summary->store, "device_name", &device, error) < 0)
        return -1;
    if (summary->json == NULL) {
        printf(summary->format == TABLE_MARKDOWN ? "# %s\n\n" : "%s\n",
               store_run_dir(summary->store));
        printf("%lld trials on %s\n", (long long)counts.told, device != NULL ? device : "?");
    } else {
        cJSON_AddStringToObject(summary->json, "run", store_run_dir(summary->store));
        cJSON_AddStringToObject(summary->json, "device", device != NULL ? device : "");
        cJSON_AddNumberToObject(summary->json, "trials", (double)counts.told);
    }
    free(device);
    if (show_goals(summary, error) < 0 || show_shapes(summary, error) < 0 ||
        print_table(summary, run_history_operators(history, error), summary->json, "operators",
                    "operators") < 0 ||
        print_table(summary, run_history_verdicts(history, error), summary->json, "verdicts",
                    "verdicts") < 0)
        return -1;
    return print_table(summary, run_history_reasons(history, REASONS, error), summary->json,
                       "reasons", "most common reasons for failures");
}

/* ---- the verb ---- */

static int run(const struct verb *verb, int argc, char **argv) {
    bool json = false;
    bool markdown = false;
    struct summary summary = {.format = TABLE_TEXT};
    const struct option_row rows[] = {
        {"json", NULL, "print one JSON object", OPTION_FLAG, &json},
        {"markdown", NULL, "print Markdown", OPTION_FLAG, &markdown},
        {0},
    };
    struct error error = {0};
    if (options_parse(verb, rows, argc, argv, 1, 1) < 0)
        return STATUS_USAGE;
    if (json && markdown) {
        error_input(&error, "summary: --json and --markdown are mutually exclusive: give one");
        return error_report(&error);
    }
    summary.store = store_open(argv[0], STORE_READ, &error);
    if (summary.store == NULL)
        return error_report(&error);
    summary.format = markdown ? TABLE_MARKDOWN : TABLE_TEXT;
    summary.json = json ? cJSON_CreateObject() : NULL;
    summary.history = run_history_open(summary.store, &error);
    int status = summary.history != NULL ? print_summary(&summary, &error) : -1;
    if (status == 0 && json)
        table_print_json(summary.json, stdout);
    else
        cJSON_Delete(summary.json);
    run_history_close(summary.history);
    store_close(summary.store);
    return status < 0 ? error_report(&error) : STATUS_DONE;
}

const struct verb verb_summary = {
    .name = "summary",
    .arguments = "RUN [options]",
    .summary = "show how a run found its champions, and what its trials reveal",
    VERB_HELP(summary),
    .run = run,
};
