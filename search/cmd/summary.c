/* summary: the log of a run: what each champion changed and won, which operators earned their
   trials, why trials failed, and whether time grows with work. Read from the store alone. Longer
   than most: its sections are one reading of one run, and each is a table of its own. */
#include "cmd/cmd.h"
#include "cmd/session.h"
#include "cmd/table.h"
#include "config/config.h"
#include "evolve/operators.h"
#include "outcome/scaling.h"
#include "store/store.h"

#include <math.h>
#include <string.h>

enum { TEXT_SIZE = 4096, REASONS = 8, ELITES = 5, OPERATORS_MAX = 64 };

struct summary {
    struct store *store;
    struct config *config; /* for the names of cases; NULL: they are numbered */
    enum table_format format;
    cJSON *json; /* NULL: for people */
    double created;
    struct store_champion *champions;
    int champion_count;
    bool predicted; /* the trial read last */
    struct {
        char name[STRATEGY_NAME_SIZE];
        int64_t told, ok, crowned;
    } operators[OPERATORS_MAX];
    int operator_count;
    struct table *table; /* being filled */
    int64_t rank;
    char champion[TEXT_SIZE]; /* genome of the goal's best, while its elites are listed */
};

/* ---- printing ---- */

/* Prints the table under a title, or adds it to `to` as `name`; frees it. */
static void finish(struct summary *summary, cJSON *to, const char *name, const char *title) {
    if (to != NULL)
        cJSON_AddItemToObject(to, name, table_json(summary->table));
    else if (table_row_count(summary->table) > 0) {
        printf(summary->format == TABLE_MARKDOWN ? "\n### %s\n\n" : "\n%s\n", title);
        table_print(summary->table, summary->format, stdout);
    }
    table_free(summary->table);
    summary->table = NULL;
}

/* ---- what was changed ---- */

/* The value of the gene that begins at `gene` ("NAME=value,...") in another genome; its length. */
static const char *value_in(const char *genome, const char *gene, size_t *length) {
    size_t name = strcspn(gene, "=") + 1;
    for (; genome != NULL && *genome != '\0'; genome = strchr(genome, ',')) {
        genome += *genome == ',';
        if (strncmp(genome, gene, name) == 0) {
            *length = strcspn(genome + name, ",");
            return genome + name;
        }
    }
    *length = 1;
    return "?";
}

/* "BLOCK_M 64 -> 32, WARPS 4 -> 8 (b)": the genes in which it differs from its first parent, marked
   where the second has the new value. */
static void print_changes(const char *genome, const char *const parents[2], char text[TEXT_SIZE]) {
    size_t used = 0;
    text[0] = '\0';
    for (const char *gene = genome; *gene != '\0' && used + 300 < TEXT_SIZE;) {
        size_t whole = strcspn(gene, ","), name = strcspn(gene, "="), size[2] = {0, 0};
        const char *value = gene + name + 1, *was[2] = {NULL, NULL};
        int length = (int)(whole - name - 1);
        bool same[2] = {false, false};
        for (int p = 0; p < 2 && parents[p] != NULL; p++) {
            was[p] = value_in(parents[p], gene, &size[p]);
            same[p] = size[p] == (size_t)length && memcmp(was[p], value, size[p]) == 0;
        }
        const char *comma = used > 0 ? ", " : "";
        if (was[0] != NULL && !same[0])
            used +=
                (size_t)snprintf(text + used, TEXT_SIZE - used, "%s%.*s %.*s -> %.*s%s", comma,
                                 (int)fmin(80, (double)name), gene, (int)fmin(60, (double)size[0]),
                                 was[0], (int)fmin(60, length), value, same[1] ? " (b)" : "");
        gene += whole + (gene[whole] == ',');
    }
}

/* ---- champions ---- */

enum champion_column {
    CHAMPION_TRIAL,
    CHAMPION_WHEN,
    CHAMPION_OPERATOR,
    CHAMPION_PARENTS,
    CHAMPION_BEFORE,
    CHAMPION_AFTER,
    CHAMPION_RATIO,
    CHAMPION_LOW,
    CHAMPION_HIGH,
    CHAMPION_DECISION,
    CHAMPION_CHANGED,
    CHAMPION_WHY,
    CHAMPION_GENOME,
    CHAMPION_COLUMNS
};

static const struct table_column champion_columns[CHAMPION_COLUMNS] = {
    [CHAMPION_TRIAL] = {.name = "trial", .heading = "trial", .right = true},
    [CHAMPION_WHEN] = {.name = "seconds", .heading = "after\ns", .right = true},
    [CHAMPION_OPERATOR] = {.name = "operator", .heading = "tried as"},
    [CHAMPION_PARENTS] = {.name = "parents", .heading = "parents"},
    [CHAMPION_BEFORE] = {.name = "before_us", .heading = "before\nus", .right = true},
    [CHAMPION_AFTER] = {.name = "after_us", .heading = "after\nus", .right = true},
    [CHAMPION_RATIO] = {.name = "ratio", .heading = "ratio", .right = true},
    [CHAMPION_LOW] = {.name = "duel_low"},
    [CHAMPION_HIGH] = {.name = "duel_high"},
    [CHAMPION_DECISION] = {.name = "decision", .heading = "crowned because"},
    [CHAMPION_WHY] = {.name = "why"},
    [CHAMPION_GENOME] = {.name = "genome"},
    [CHAMPION_CHANGED] = {.name = "changed", .heading = "changed"},
};

static void print_decision(const struct store_champion *champion, const struct store_trial *trial,
                           char text[160]) {
    const struct outcome *outcome = trial->outcome;
    bool fought = trial->told == champion->event && outcome->duel.result == DUEL_WON;
    if (champion->previous == champion->trial)
        snprintf(text, 160, "timed again");
    else if (champion->previous == STORE_NO_TRIAL)
        snprintf(text, 160, "first that passed");
    else if (fought)
        snprintf(text, 160, "won a duel: %.4f, 99 %% in [%.4f, %.4f], %d blocks",
                 outcome->duel.ratio, outcome->duel.low, outcome->duel.high, outcome->duel.blocks);
    else
        snprintf(text, 160, "%s", outcome->predicted ? "predicted faster" : "faster");
}

static void add_parents(struct table *table, const struct store_trial *trial) {
    char text[64] = "";
    if (trial->parent_a == STORE_NO_TRIAL) {
        table_none(table);
        return;
    }
    snprintf(text, sizeof text, trial->parent_b != STORE_NO_TRIAL ? "%lld, %lld" : "%lld",
             (long long)trial->parent_a, (long long)trial->parent_b);
    table_text(table, text);
}

static int add_champion(struct summary *summary, const struct store_champion *champion,
                        double before_us, struct error *error) {
    struct table *table = summary->table;
    struct store_trial *trial = store_trial_read(summary->store, champion->trial, error);
    struct store_trial *parents[2] = {NULL, NULL};
    int status = trial == NULL ? -1 : 0;
    for (int p = 0; status == 0 && p < 2; p++) {
        int64_t number = p == 0 ? trial->parent_a : trial->parent_b;
        parents[p] =
            number != STORE_NO_TRIAL ? store_trial_read(summary->store, number, error) : NULL;
        status = number != STORE_NO_TRIAL && parents[p] == NULL ? -1 : 0;
    }
    if (status == 0) {
        char changed[TEXT_SIZE], decision[160];
        const char *const genomes[2] = {parents[0] != NULL ? parents[0]->genome : NULL,
                                        parents[1] != NULL ? parents[1]->genome : NULL};
        int kind = operator_parse(trial->operator_name);
        bool again = champion->previous == champion->trial;
        const struct duel_outcome *duel = &trial->outcome->duel;
        bool fought = trial->told == champion->event && duel->result == DUEL_WON;
        summary->predicted = trial->outcome->predicted;
        print_changes(trial->genome, genomes, changed);
        print_decision(champion, trial, decision);
        table_integer(table, champion->trial);
        table_number(table, champion->crowned - summary->created, 1);
        table_text(table, trial->operator_name);
        add_parents(table, trial);
        table_number(table, before_us, 3);
        table_number(table, champion->score_us, 3);
        table_number(table, champion->score_us / before_us, 3);
        table_number(table, fought ? duel->low : NAN, 4);
        table_number(table, fought ? duel->high : NAN, 4);
        table_text(table, decision);
        table_text(table, again ? "" : changed[0] != '\0' ? changed : trial->genome);
        table_text(table, kind >= 0 ? operators[kind].about : "");
        table_text(table, trial->genome);
    }
    for (int p = 0; p < 2; p++)
        store_trial_free(parents[p]);
    store_trial_free(trial);
    return status;
}

static int note_champion(void *context, const struct store_champion *champion,
                         struct error *error) {
    struct summary *summary = context;
    (void)error;
    summary->champions = realloc(summary->champions, (size_t)(summary->champion_count + 1) *
                                                         sizeof *summary->champions);
    if (summary->champions == NULL)
        BUG("out of memory");
    summary->champions[summary->champion_count++] = *champion;
    return 0;
}

static int show_champions(struct summary *summary, int goal, cJSON *to, struct error *error) {
    double before_us = NAN;
    int status = 0;
    summary->table = table_new(champion_columns, CHAMPION_COLUMNS);
    for (int i = 0; i < summary->champion_count && status == 0; i++) {
        if (summary->champions[i].goal != goal)
            continue;
        status = add_champion(summary, &summary->champions[i], before_us, error);
        before_us = summary->champions[i].score_us;
    }
    finish(summary, to, "champions",
           summary->predicted ? "champions, by predicted latency" : "champions");
    return status;
}

/* ---- elites ---- */

static int add_elite(void *context, const struct store_trial *trial, struct error *error) {
    struct summary *summary = context;
    const char *const best[2] = {summary->champion, NULL};
    char differs[TEXT_SIZE];
    (void)error;
    if (summary->rank++ == 0)
        snprintf(summary->champion, TEXT_SIZE, "%s", trial->genome);
    print_changes(trial->genome, best, differs);
    table_integer(summary->table, summary->rank);
    table_integer(summary->table, trial->number);
    table_number(summary->table, trial->outcome->score_us, 3);
    table_text(summary->table, trial->operator_name);
    table_text(summary->table, summary->rank == 1 ? trial->genome : differs);
    return 0;
}

static int show_elites(struct summary *summary, int goal, cJSON *to, struct error *error) {
    static const struct table_column columns[] = {
        {.name = "rank", .heading = "rank", .right = true},
        {.name = "trial", .heading = "trial", .right = true},
        {.name = "score_us", .heading = "us", .right = true},
        {.name = "operator", .heading = "tried as"},
        {.name = "genome", .heading = "genome; then what differs from the best", .wrap = true},
    };
    summary->rank = 0;
    summary->table = table_new(columns, 5);
    int status = store_board(summary->store, goal, ELITES, add_elite, summary, error);
    finish(summary, to, "elites", "the best");
    return status;
}

/* ---- operators ---- */

static int note_operator(void *context, const char *name, int64_t told, int64_t ok,
                         struct error *error) {
    struct summary *summary = context;
    (void)error;
    if (summary->operator_count == OPERATORS_MAX)
        return 1;
    int at = summary->operator_count++;
    snprintf(summary->operators[at].name, STRATEGY_NAME_SIZE, "%s", name);
    summary->operators[at].told = told;
    summary->operators[at].ok = ok;
    return 0;
}

static int credit_champion(struct summary *summary, const struct store_champion *champion,
                           struct error *error) {
    if (champion->previous == champion->trial)
        return 0;
    struct store_trial *trial = store_trial_read(summary->store, champion->trial, error);
    if (trial == NULL)
        return -1;
    for (int k = 0; k < summary->operator_count; k++)
        summary->operators[k].crowned +=
            strcmp(summary->operators[k].name, trial->operator_name) == 0;
    store_trial_free(trial);
    return 0;
}

static int show_operators(struct summary *summary, struct error *error) {
    static const struct table_column columns[] = {
        {.name = "operator", .heading = "operator"},
        {.name = "trials", .heading = "trials", .right = true},
        {.name = "ok", .heading = "ok", .right = true},
        {.name = "champions", .heading = "champions", .right = true},
        {.name = "about", .heading = "what it does"},
    };
    int status = store_operators(summary->store, note_operator, summary, error);
    for (int i = 0; i < summary->champion_count && status == 0; i++)
        status = credit_champion(summary, &summary->champions[i], error);
    summary->table = table_new(columns, 5);
    for (int k = 0; k < summary->operator_count; k++) {
        int kind = operator_parse(summary->operators[k].name);
        table_text(summary->table, summary->operators[k].name);
        table_integer(summary->table, summary->operators[k].told);
        table_integer(summary->table, summary->operators[k].ok);
        table_integer(summary->table, summary->operators[k].crowned);
        table_text(summary->table, kind >= 0 ? operators[kind].about : "");
    }
    finish(summary, summary->json, "operators", "what each operator earned");
    return status;
}

/* ---- verdicts ---- */

static int show_verdicts(struct summary *summary, struct error *error) {
    static const struct table_column columns[] = {
        {.name = "verdict", .heading = "verdict"},
        {.name = "trials", .heading = "trials", .right = true},
        {.name = "raced", .heading = "dropped by\nthe race", .right = true},
    };
    struct store_counts counts;
    if (store_count(summary->store, &counts, error) < 0)
        return -1;
    summary->table = table_new(columns, 3);
    for (int v = 0; v < VERDICT_COUNT; v++) {
        if (counts.verdicts[v] == 0)
            continue;
        table_text(summary->table, verdict_name((enum verdict)v));
        table_integer(summary->table, counts.verdicts[v]);
        if (v == VERDICT_OK)
            table_integer(summary->table, counts.raced);
        else
            table_none(summary->table);
    }
    finish(summary, summary->json, "verdicts", "verdicts");
    return 0;
}

static int add_reason(void *context, enum verdict verdict, const char *reason, int64_t count,
                      struct error *error) {
    struct summary *summary = context;
    (void)error;
    table_integer(summary->table, count);
    table_text(summary->table, verdict_name(verdict));
    table_text(summary->table, reason);
    return 0;
}

static int show_reasons(struct summary *summary, struct error *error) {
    static const struct table_column columns[] = {
        {.name = "trials", .heading = "trials", .right = true},
        {.name = "verdict", .heading = "verdict"},
        {.name = "reason", .heading = "reason", .wrap = true},
    };
    summary->table = table_new(columns, 3);
    int status = store_reasons(summary->store, REASONS, add_reason, summary, error);
    finish(summary, summary->json, "reasons", "the commonest reasons for failures");
    return status;
}

/* ---- the check over shapes ---- */

struct shapes {
    int count;
    struct scaling_case cases[CASES_MAX];
    char names[CASES_MAX][CASE_NAME_SIZE];
};

/* The champion's figures: all cases of a joint goal, or the one case of each goal. */
static int collect_shapes(struct summary *summary, struct shapes *shapes, struct error *error) {
    int goals = store_goal_count(summary->store);
    for (int goal = 0; goal < goals; goal++) {
        int64_t best = store_ranked(summary->store, goal, 1, error);
        if (best == STORE_NO_TRIAL)
            continue;
        struct store_trial *trial = best < 0 ? NULL : store_trial_read(summary->store, best, error);
        if (trial == NULL)
            return -1;
        for (int c = 0; c < trial->outcome->case_count && shapes->count < CASES_MAX; c++) {
            char *name = shapes->names[shapes->count];
            shapes->cases[shapes->count++] = scaling_of(&trial->outcome->cases[c]);
            if (trial->outcome->case_count == 1)
                snprintf(name, CASE_NAME_SIZE, "%s", store_goal_name(summary->store, goal));
            else if (summary->config != NULL && c < summary->config->case_count)
                template_print_shape(summary->config->shapes, &summary->config->cases[c], name);
            else
                snprintf(name, CASE_NAME_SIZE, "case %d", c);
        }
        store_trial_free(trial);
    }
    return 0;
}

static int show_shapes(struct summary *summary, struct error *error) {
    static const struct table_column columns[] = {
        {.name = "case", .heading = "case"},
        {.name = "after", .heading = "beside the case before it"},
        {.name = "time_ratio", .heading = "time\ngrows", .right = true},
        {.name = "work_ratio", .heading = "work\ngrows", .right = true},
    };
    struct shapes *shapes = calloc(1, sizeof *shapes);
    struct scaling_flag flags[CASES_MAX];
    if (shapes == NULL)
        BUG("out of memory");
    int status = collect_shapes(summary, shapes, error);
    int count = status == 0 ? scaling_check(shapes->cases, shapes->count, flags) : 0;
    summary->table = table_new(columns, 4);
    for (int i = 0; i < count; i++) {
        table_text(summary->table, shapes->names[flags[i].to]);
        table_text(summary->table, shapes->names[flags[i].from]);
        table_number(summary->table, flags[i].time_ratio, 2);
        table_number(summary->table, flags[i].work_ratio, 2);
    }
    if (summary->json == NULL && count == 0 && shapes->count > 1)
        printf("\nover %d shapes, time grows nowhere more than %.1f times as fast as work\n",
               shapes->count, SCALING_LIMIT);
    finish(summary, summary->json, "shapes", "time grows faster than work: look at these");
    free(shapes);
    return status;
}

/* ---- the verb ---- */

static int show_goals(struct summary *summary, struct error *error) {
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
        if (show_champions(summary, goal, to, error) < 0 ||
            show_elites(summary, goal, to, error) < 0)
            return -1;
    }
    return 0;
}

static int show(struct summary *summary, struct error *error) {
    struct store_counts counts;
    char *device = NULL, *created = NULL;
    if (store_count(summary->store, &counts, error) < 0 ||
        store_meta_get(summary->store, "device_name", &device, error) < 0 ||
        store_meta_get(summary->store, "created", &created, error) < 0 ||
        store_champions(summary->store, note_champion, summary, error) < 0) {
        free(device);
        return -1;
    }
    summary->created = created != NULL ? strtod(created, NULL) : NAN;
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
    free(created);
    return show_goals(summary, error) < 0 || show_shapes(summary, error) < 0 ||
                   show_operators(summary, error) < 0 || show_verdicts(summary, error) < 0 ||
                   show_reasons(summary, error) < 0
               ? -1
               : 0;
}

static int run(const struct verb *verb, int argc, char **argv) {
    bool json = false;
    bool markdown = false;
    struct summary summary = {.format = TABLE_TEXT};
    const struct option_row rows[] = {
        {"json", NULL, "print one JSON object", OPTION_FLAG, &json},
        {"markdown", NULL, "as Markdown", OPTION_FLAG, &markdown},
        {0},
    };
    struct error error = {0};
    if (options_parse(verb, rows, argc, argv, 1, 1) < 0)
        return STATUS_USAGE;
    if (json && markdown) {
        error_input(&error, "summary: --json and --markdown exclude each other: give one");
        return error_report(&error);
    }
    summary.store = store_open(argv[0], STORE_READ, &error);
    if (summary.store == NULL)
        return error_report(&error);
    summary.format = markdown ? TABLE_MARKDOWN : TABLE_TEXT;
    summary.json = json ? cJSON_CreateObject() : NULL;
    summary.config = session_config(summary.store);
    int status = show(&summary, &error);
    if (status == 0 && json)
        table_print_json(summary.json, stdout);
    else
        cJSON_Delete(summary.json);
    free(summary.champions);
    config_free(summary.config);
    store_close(summary.store);
    return status < 0 ? error_report(&error) : STATUS_DONE;
}

const struct verb verb_summary = {
    .name = "summary",
    .arguments = "RUN [options]",
    .summary = "how a run got to its champion, and what it learnt",
    .help =
        "The log of the run in folder RUN, read from its file alone. For every champion: the "
        "trial, "
        "when it\nwas crowned, which operator bred it from which parents and what that changed, "
        "the "
        "score before and\nafter (the geometric mean of the warm medians over the goal's cases), "
        "and "
        "why it was crowned: on a\nGPU by a duel, with the 99 % interval of its ratio. \"(b)\" "
        "marks "
        "a gene that it took from its second\nparent. Then the best of the board, the trials and "
        "champions of each operator, the verdicts, and\nthe commonest reasons for failures.\n\n"
        "The check over shapes: in the order of work (operations, then bytes, as the template "
        "counts "
        "them), a\ncase is named whose time, beside the case before it, grows more than 1.5 times "
        "as "
        "fast as its work.\nA grid that serialises the batch shows so.\n\n"
        "  evotile summary results/night\n"
        "  evotile summary results/night --markdown > night.md\n"
        "  evotile summary results/night --json | jq '.goals[0].champions[-1]'\n",
    .run = run,
};
