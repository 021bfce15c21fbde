/* One section for each table, in the order of the summary. The file is long because the sections
   are independent and read best in that order. */
#include "cmd/chapters.h"

#include "cmd/lessons.h"
#include "cmd/session.h"
#include "evolve/operators.h"
#include "outcome/scaling.h"

#include <math.h>
#include <string.h>

enum { OPERATORS_MAX = 64 };

struct chapters {
    struct store *store;
    struct config *config; /* for the names of cases; NULL: cases are numbered */
    double created;
    struct store_champion *champions;
    int champion_count;
    struct lessons *lessons; /* read on first use */
};

/* ---- opening ---- */

static int note_champion(void *context, const struct store_champion *champion,
                         struct error *error) {
    struct chapters *chapters = context;
    (void)error;
    chapters->champions = realloc(chapters->champions, (size_t)(chapters->champion_count + 1) *
                                                           sizeof *chapters->champions);
    if (chapters->champions == NULL)
        BUG("out of memory");
    chapters->champions[chapters->champion_count++] = *champion;
    return 0;
}

struct chapters *chapters_open(struct store *store, struct error *error) {
    struct chapters *chapters = calloc(1, sizeof *chapters);
    char *created = NULL;
    if (chapters == NULL)
        BUG("out of memory");
    chapters->store = store;
    if (store_meta_get(store, "created", &created, error) < 0 ||
        store_champions(store, note_champion, chapters, error) < 0) {
        free(created);
        chapters_close(chapters);
        return NULL;
    }
    chapters->created = created != NULL ? strtod(created, NULL) : NAN;
    chapters->config = session_config(store);
    free(created);
    return chapters;
}

void chapters_close(struct chapters *chapters) {
    if (chapters == NULL)
        return;
    free(chapters->champions);
    lessons_free(chapters->lessons);
    config_free(chapters->config);
    free(chapters);
}

const struct store_champion *chapters_crowned(const struct chapters *chapters, int *count) {
    *count = chapters->champion_count;
    return chapters->champions;
}

double chapters_created(const struct chapters *chapters) {
    return chapters->created;
}

void chapters_case_name(const struct chapters *chapters, int goal, int case_count, int number,
                        char name[CASE_NAME_SIZE]) {
    const struct config *config = chapters->config;
    if (case_count == 1)
        snprintf(name, CASE_NAME_SIZE, "%s", store_goal_name(chapters->store, goal));
    else if (config != NULL && number < config->case_count)
        template_print_shape(config->shapes, &config->cases[number], name);
    else
        snprintf(name, CASE_NAME_SIZE, "case %d", number);
}

/* Returns the table, or frees it and returns NULL if it could not be filled. */
static struct table *filled(struct table *table, int status) {
    if (status == 0)
        return table;
    table_free(table);
    return NULL;
}

/* ---- changed genes ---- */

/* Finds the value that another genome has for the gene at `gene` ("NAME=value,..."), and its
   length; "?" if it has no such gene. */
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

void chapters_print_changes(const char *genome, const char *const parents[2],
                            char text[CHANGES_SIZE]) {
    size_t used = 0;
    text[0] = '\0';
    for (const char *gene = genome; *gene != '\0' && used + 300 < CHANGES_SIZE;) {
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
                (size_t)snprintf(text + used, CHANGES_SIZE - used, "%s%.*s %.*s -> %.*s%s", comma,
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
    [CHAMPION_DECISION] = {.name = "decision", .heading = "accepted because"},
    [CHAMPION_WHY] = {.name = "why"},
    [CHAMPION_GENOME] = {.name = "genome"},
    [CHAMPION_CHANGED] = {.name = "changed", .heading = "changed", .wrap = true},
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

/* Prints what an operator does; for a hint, the reason that the template gives. */
static void print_about(struct store *store, const char *name, char about[BECAUSE_SIZE]) {
    struct error ignored;
    char *because = NULL;
    int kind = operator_parse(name, NULL);
    if (kind == OPERATOR_RULE)
        store_meta_get(store, name, &because, &ignored);
    snprintf(about, BECAUSE_SIZE, "%s",
             because != NULL ? because
             : kind >= 0     ? operators[kind].about
                             : "");
    free(because);
}

/* A trial without parents, as a model proposes, is compared with the previous champion. */
static int64_t parent_of(const struct store_trial *trial, const struct store_champion *champion,
                         int which) {
    bool orphan = trial->parent_a == STORE_NO_TRIAL;
    return which == 1 ? trial->parent_b : orphan ? champion->previous : trial->parent_a;
}

static int add_champion(struct chapters *chapters, struct table *table,
                        const struct store_champion *champion, double before_us, bool *predicted,
                        struct error *error) {
    struct store_trial *trial = store_trial_read(chapters->store, champion->trial, error);
    struct store_trial *parents[2] = {NULL, NULL};
    int status = trial == NULL ? -1 : 0;
    for (int p = 0; status == 0 && p < 2; p++) {
        int64_t number = parent_of(trial, champion, p);
        parents[p] =
            number != STORE_NO_TRIAL ? store_trial_read(chapters->store, number, error) : NULL;
        status = number != STORE_NO_TRIAL && parents[p] == NULL ? -1 : 0;
    }
    if (status == 0) {
        char changed[CHANGES_SIZE], decision[160];
        const char *const genomes[2] = {parents[0] != NULL ? parents[0]->genome : NULL,
                                        parents[1] != NULL ? parents[1]->genome : NULL};
        char about[BECAUSE_SIZE];
        bool again = champion->previous == champion->trial;
        const struct duel_outcome *duel = &trial->outcome->duel;
        bool fought = trial->told == champion->event && duel->result == DUEL_WON;
        *predicted = trial->outcome->predicted;
        print_about(chapters->store, trial->operator_name, about);
        chapters_print_changes(trial->genome, genomes, changed);
        print_decision(champion, trial, decision);
        table_integer(table, champion->trial);
        table_number(table, champion->crowned - chapters->created, 1);
        table_text(table, trial->operator_name);
        add_parents(table, trial);
        table_number(table, before_us, 3);
        table_number(table, champion->score_us, 3);
        table_number(table, champion->score_us / before_us, 3);
        table_number(table, fought ? duel->low : NAN, 4);
        table_number(table, fought ? duel->high : NAN, 4);
        table_text(table, decision);
        table_text(table, again ? "" : changed[0] != '\0' ? changed : trial->genome);
        table_text(table, about);
        table_text(table, trial->genome);
    }
    for (int p = 0; p < 2; p++)
        store_trial_free(parents[p]);
    store_trial_free(trial);
    return status;
}

struct table *chapters_champions(struct chapters *chapters, int goal, bool *predicted,
                                 struct error *error) {
    struct table *table = table_new(champion_columns, CHAMPION_COLUMNS);
    double before_us = NAN;
    int status = 0;
    for (int i = 0; i < chapters->champion_count && status == 0; i++) {
        if (chapters->champions[i].goal != goal)
            continue;
        status =
            add_champion(chapters, table, &chapters->champions[i], before_us, predicted, error);
        before_us = chapters->champions[i].score_us;
    }
    return filled(table, status);
}

/* ---- elites ---- */

struct elites {
    struct table *table;
    int64_t rank;
    char best[CHANGES_SIZE]; /* genome */
};

static int add_elite(void *context, const struct store_trial *trial, struct error *error) {
    struct elites *elites = context;
    const char *const best[2] = {elites->best, NULL};
    char differs[CHANGES_SIZE];
    (void)error;
    if (elites->rank++ == 0)
        snprintf(elites->best, sizeof elites->best, "%s", trial->genome);
    chapters_print_changes(trial->genome, best, differs);
    table_integer(elites->table, elites->rank);
    table_integer(elites->table, trial->number);
    table_number(elites->table, trial->outcome->score_us, 3);
    table_text(elites->table, trial->operator_name);
    table_text(elites->table, elites->rank == 1 ? trial->genome : differs);
    return 0;
}

struct table *chapters_elites(struct chapters *chapters, int goal, int count, struct error *error) {
    static const struct table_column columns[] = {
        {.name = "rank", .heading = "rank", .right = true},
        {.name = "trial", .heading = "trial", .right = true},
        {.name = "score_us", .heading = "us", .right = true},
        {.name = "operator", .heading = "tried as"},
        {.name = "genome", .heading = "genome; then what differs from the best", .wrap = true},
    };
    struct elites elites = {.table = table_new(columns, 5)};
    return filled(elites.table,
                  store_board(chapters->store, goal, count, 0, add_elite, &elites, error));
}

/* ---- islands ---- */

static int add_island(void *context, const struct store_turn *turn, struct error *error) {
    struct table *table = context;
    (void)error;
    table_integer(table, turn->turn);
    table_integer(table, turn->told);
    table_integer(table, turn->ok);
    table_integer(table, turn->champions);
    if (turn->best == STORE_NO_TRIAL) {
        table_none(table);
        table_none(table);
    } else {
        table_integer(table, turn->best);
        table_number(table, turn->score_us, 3);
    }
    return 0;
}

struct table *chapters_islands(struct chapters *chapters, int goal, struct error *error) {
    static const struct table_column columns[] = {
        {.name = "island", .heading = "island", .right = true},
        {.name = "trials", .heading = "trials", .right = true},
        {.name = "ok", .heading = "ok", .right = true},
        {.name = "champions", .heading = "champions", .right = true},
        {.name = "best", .heading = "its best\ntrial", .right = true},
        {.name = "score_us", .heading = "us", .right = true},
    };
    char *islands;
    if (store_meta_get(chapters->store, "islands", &islands, error) < 0)
        return NULL;
    int count = islands != NULL ? atoi(islands) : 1; /* the run is older than islands */
    struct table *table = table_new(columns, 6);
    free(islands);
    return count < 2
               ? table
               : filled(table, store_turns(chapters->store, goal, count, add_island, table, error));
}

/* ---- effects of gene values ---- */

struct table *chapters_lessons(struct chapters *chapters, int goal, int count,
                               struct error *error) {
    if (chapters->lessons == NULL)
        chapters->lessons = lessons_read(chapters->store, chapters->config, error);
    return chapters->lessons != NULL ? lessons_table(chapters->lessons, goal, count) : NULL;
}

/* ---- operators ---- */

struct earned {
    int count;
    struct {
        char name[STRATEGY_NAME_SIZE];
        int64_t told, ok, crowned;
    } operators[OPERATORS_MAX];
};

static int note_operator(void *context, const char *name, int64_t told, int64_t ok,
                         struct error *error) {
    struct earned *earned = context;
    (void)error;
    if (earned->count == OPERATORS_MAX)
        return 1;
    int at = earned->count++;
    snprintf(earned->operators[at].name, STRATEGY_NAME_SIZE, "%s", name);
    earned->operators[at].told = told;
    earned->operators[at].ok = ok;
    return 0;
}

static int credit_champion(struct chapters *chapters, struct earned *earned,
                           const struct store_champion *champion, struct error *error) {
    if (champion->previous == champion->trial)
        return 0;
    struct store_trial *trial = store_trial_read(chapters->store, champion->trial, error);
    if (trial == NULL)
        return -1;
    for (int k = 0; k < earned->count; k++)
        earned->operators[k].crowned +=
            strcmp(earned->operators[k].name, trial->operator_name) == 0;
    store_trial_free(trial);
    return 0;
}

struct table *chapters_operators(struct chapters *chapters, struct error *error) {
    static const struct table_column columns[] = {
        {.name = "operator", .heading = "operator"},
        {.name = "trials", .heading = "trials", .right = true},
        {.name = "ok", .heading = "ok", .right = true},
        {.name = "champions", .heading = "champions", .right = true},
        {.name = "about", .heading = "what it does"},
    };
    struct earned earned = {0};
    int status = store_operators(chapters->store, note_operator, &earned, error);
    for (int i = 0; i < chapters->champion_count && status == 0; i++)
        status = credit_champion(chapters, &earned, &chapters->champions[i], error);
    struct table *table = table_new(columns, 5);
    for (int k = 0; k < earned.count; k++) {
        char about[BECAUSE_SIZE];
        print_about(chapters->store, earned.operators[k].name, about);
        table_text(table, earned.operators[k].name);
        table_integer(table, earned.operators[k].told);
        table_integer(table, earned.operators[k].ok);
        table_integer(table, earned.operators[k].crowned);
        table_text(table, about);
    }
    return filled(table, status);
}

/* ---- verdicts ---- */

struct table *chapters_verdicts(struct chapters *chapters, struct error *error) {
    static const struct table_column columns[] = {
        {.name = "verdict", .heading = "verdict"},
        {.name = "trials", .heading = "trials", .right = true},
        {.name = "raced", .heading = "dropped by\nthe race", .right = true},
    };
    struct store_counts counts;
    if (store_count(chapters->store, &counts, error) < 0)
        return NULL;
    struct table *table = table_new(columns, 3);
    for (int v = 0; v < VERDICT_COUNT; v++) {
        if (counts.verdicts[v] == 0)
            continue;
        table_text(table, verdict_name((enum verdict)v));
        table_integer(table, counts.verdicts[v]);
        if (v == VERDICT_OK)
            table_integer(table, counts.raced);
        else
            table_none(table);
    }
    return table;
}

static int add_reason(void *context, enum verdict verdict, const char *reason, int64_t count,
                      struct error *error) {
    struct table *table = context;
    (void)error;
    table_integer(table, count);
    table_text(table, verdict_name(verdict));
    table_text(table, reason);
    return 0;
}

struct table *chapters_reasons(struct chapters *chapters, int count, struct error *error) {
    static const struct table_column columns[] = {
        {.name = "trials", .heading = "trials", .right = true},
        {.name = "verdict", .heading = "verdict"},
        {.name = "reason", .heading = "reason", .wrap = true},
    };
    struct table *table = table_new(columns, 3);
    return filled(table, store_reasons(chapters->store, count, add_reason, table, error));
}

/* ---- the scaling check ---- */

struct shapes {
    int count;
    struct scaling_case cases[CASES_MAX];
    char names[CASES_MAX][CASE_NAME_SIZE];
};

/* Collects the champions' figures: all cases of a joint goal, or the single case of each goal. */
static int collect_shapes(struct chapters *chapters, struct shapes *shapes, struct error *error) {
    int goals = store_goal_count(chapters->store);
    for (int goal = 0; goal < goals; goal++) {
        int64_t best = store_ranked(chapters->store, goal, 1, error);
        if (best == STORE_NO_TRIAL)
            continue;
        struct store_trial *trial =
            best < 0 ? NULL : store_trial_read(chapters->store, best, error);
        if (trial == NULL)
            return -1;
        for (int c = 0; c < trial->outcome->case_count && shapes->count < CASES_MAX; c++) {
            chapters_case_name(chapters, goal, trial->outcome->case_count, c,
                               shapes->names[shapes->count]);
            shapes->cases[shapes->count++] = scaling_of(&trial->outcome->cases[c]);
        }
        store_trial_free(trial);
    }
    return 0;
}

struct table *chapters_shapes(struct chapters *chapters, int *compared, struct error *error) {
    static const struct table_column columns[] = {
        {.name = "case", .heading = "case"},
        {.name = "after", .heading = "relative to the case"},
        {.name = "time_ratio", .heading = "time\ngrows", .right = true},
        {.name = "work_ratio", .heading = "work\ngrows", .right = true},
    };
    struct shapes *shapes = calloc(1, sizeof *shapes);
    struct scaling_flag flags[CASES_MAX];
    if (shapes == NULL)
        BUG("out of memory");
    int status = collect_shapes(chapters, shapes, error);
    int count = status == 0 ? scaling_check(shapes->cases, shapes->count, flags) : 0;
    struct table *table = table_new(columns, 4);
    for (int i = 0; i < count; i++) {
        table_text(table, shapes->names[flags[i].to]);
        table_text(table, shapes->names[flags[i].from]);
        table_number(table, flags[i].time_ratio, 2);
        table_number(table, flags[i].work_ratio, 2);
    }
    *compared = shapes->count;
    free(shapes);
    return filled(table, status);
}
