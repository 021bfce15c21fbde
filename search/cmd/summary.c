/* summary: how a run found its champions: what each one changed and gained, the success of the
   operators, gene effects, reasons for failures, and scaling with work. Reads only the store. */
#include "cmd/ablation.h"
#include "cmd/chapters.h"
#include "cmd/cmd.h"
#include "outcome/scaling.h"

enum { REASONS = 8, ELITES = 5, LESSONS = 8 };

struct summary {
    struct store *store;
    struct chapters *chapters;
    enum table_format format;
    cJSON *json; /* NULL for text or Markdown */
};

/* Prints the table under a title, or adds it to `to` as `name`; then frees it. -1 if `table` is
   NULL because it could not be read. */
static int finish(const struct summary *summary, struct table *table, cJSON *to, const char *name,
                  const char *title) {
    if (table == NULL)
        return -1;
    if (to != NULL)
        cJSON_AddItemToObject(to, name, table_json(table));
    else if (table_row_count(table) > 0) {
        printf(summary->format == TABLE_MARKDOWN ? "\n### %s\n\n" : "\n%s\n", title);
        table_print(table, summary->format, stdout);
    }
    table_free(table);
    return 0;
}

/* Shows the stored ablation of the goal, which may be of an earlier champion. */
static int show_ablation(const struct summary *summary, int goal, cJSON *to, struct error *error) {
    struct ablation *ablation;
    char title[128];
    int found = ablation_read(summary->store, goal, &ablation, error);
    if (found <= 0)
        return found;
    snprintf(title, sizeof title, "contribution of each gene of trial %lld%s",
             (long long)ablation->trial, ablation->predicted ? " (predicted)" : "");
    int status = finish(summary, ablation_table(ablation), to, "ablation", title);
    ablation_free(ablation);
    return status;
}

static int show_goal(const struct summary *summary, int goal, cJSON *to, struct error *error) {
    bool predicted = false;
    struct table *champions = chapters_champions(summary->chapters, goal, &predicted, error);
    if (finish(summary, champions, to, "champions",
               predicted ? "champions, by predicted latency" : "champions") < 0)
        return -1;
    if (finish(summary, chapters_elites(summary->chapters, goal, ELITES, error), to, "elites",
               "the best") < 0)
        return -1;
    if (finish(summary, chapters_islands(summary->chapters, goal, error), to, "islands",
               "islands") < 0)
        return -1;
    if (finish(summary, chapters_lessons(summary->chapters, goal, LESSONS, error), to, "lessons",
               "gene effects: time with these values / expected time") < 0)
        return -1;
    return show_ablation(summary, goal, to, error);
}

static int show_goals(const struct summary *summary, struct error *error) {
    cJSON *goals = summary->json != NULL ? cJSON_AddArrayToObject(summary->json, "goals") : NULL;
    for (int goal = 0; goal < store_goal_count(summary->store); goal++) {
        cJSON *to = goals != NULL ? cJSON_CreateObject() : NULL;
        const char *name = store_goal_name(summary->store, goal);
        if (to != NULL) {
            cJSON_AddItemToArray(goals, to);
            cJSON_AddNumberToObject(to, "goal", goal);
            cJSON_AddStringToObject(to, "name", name);
        } else {
            printf(summary->format == TABLE_MARKDOWN ? "\n## goal %d: %s\n" : "\ngoal %d: %s\n",
                   goal, name);
        }
        if (show_goal(summary, goal, to, error) < 0)
            return -1;
    }
    return 0;
}

static int show_shapes(const struct summary *summary, struct error *error) {
    int shapes;
    struct table *table = chapters_shapes(summary->chapters, &shapes, error);
    if (summary->json == NULL && table != NULL && table_row_count(table) == 0 && shapes > 1)
        printf("\nscaling over %d shapes: time never grows more than %.1f times as fast as work\n",
               shapes, SCALING_LIMIT);
    return finish(summary, table, summary->json, "shapes",
                  "cases whose time grows faster than their work");
}

static int show(struct summary *summary, struct error *error) {
    struct chapters *chapters = summary->chapters;
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
        finish(summary, chapters_operators(chapters, error), summary->json, "operators",
               "operators") < 0 ||
        finish(summary, chapters_verdicts(chapters, error), summary->json, "verdicts", "verdicts") <
            0)
        return -1;
    return finish(summary, chapters_reasons(chapters, REASONS, error), summary->json, "reasons",
                  "most common reasons for failures");
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
    summary.chapters = chapters_open(summary.store, &error);
    int status = summary.chapters != NULL ? show(&summary, &error) : -1;
    if (status == 0 && json)
        table_print_json(summary.json, stdout);
    else
        cJSON_Delete(summary.json);
    chapters_close(summary.chapters);
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
