/* One section for each table, in the order of the summary. The file is long because the sections
   are independent and read best in that order. */
#include "analysis/run_history.h"

#include "analysis/gene_effects.h"
#include "base/memory.h"
#include "outcome/scaling.h"
#include "run/run_dir.h"
#include "strategy/evolution.h"
#include "strategy/operators.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- opening ---- */

static int add_accepted(void *context, const struct store_champion *champion, struct error *error) {
    struct run_history *history = context;
    (void)error;
    history->champions =
        xgrow(history->champions, history->champion_count, sizeof *history->champions);
    history->champions[history->champion_count++] = *champion;
    return 0;
}

struct run_history *run_history_open(struct store *store, struct error *error) {
    struct run_history *history = xcalloc(1, sizeof *history);
    char *created = NULL;
    history->store = store;
    if (store_meta_get(store, "created", &created, error) < 0 ||
        run_dir_minimised(store, &history->minimised, error) < 0 ||
        run_solutions_read(store, &history->solutions, error) < 0 ||
        store_champions(store, add_accepted, history, error) < 0) {
        free(created);
        run_history_close(history);
        return NULL;
    }
    history->created = created != NULL ? strtod(created, NULL) : NAN;
    history->config = run_dir_config(store);
    free(created);
    return history;
}

void run_history_close(struct run_history *history) {
    if (history == NULL)
        return;
    free(history->champions);
    gene_effects_free(history->effects);
    config_free(history->config);
    free(history);
}

/* Returns the table, or frees it and returns NULL if it could not be filled. */
static struct table *table_or_null(struct table *table, int status) {
    if (status == 0)
        return table;
    table_free(table);
    return NULL;
}

/* ---- changed genes ---- */

void run_history_print_changes(const char *genome, const char *const parents[2],
                               char text[CHANGES_SIZE]) {
    size_t used = 0;
    struct gene_words gene;
    text[0] = '\0';
    while (parents[0] != NULL && used + 300 < CHANGES_SIZE &&
           genome_read_gene(&genome, &gene) == 1) {
        struct gene_word was[2];
        bool same[2] = {false, false};
        for (int p = 0; p < 2 && parents[p] != NULL; p++) {
            if (!genome_find_value(parents[p], gene.name, &was[p]))
                was[p] = (struct gene_word){"?", 1};
            same[p] = gene_word_equal(was[p], gene.value);
        }
        if (!same[0])
            used += (size_t)snprintf(text + used, CHANGES_SIZE - used, "%s%.*s %.*s -> %.*s%s",
                                     used > 0 ? ", " : "", (int)fmin(80, gene.name.length),
                                     gene.name.text, (int)fmin(60, was[0].length), was[0].text,
                                     (int)fmin(60, gene.value.length), gene.value.text,
                                     same[1] ? " (b)" : "");
    }
}

/* ---- champions ---- */

static const struct table_column champion_columns[] = {
    {.name = "trial", .heading = "trial", .right = true},
    {.name = "seconds", .heading = "after\ns", .right = true},
    {.name = "operator", .heading = "tried as"},
    {.name = "parents", .heading = "parents"},
    {.name = "before_us", .heading = "before\nus", .right = true},
    {.name = "after_us", .heading = "after\nus", .right = true},
    {.name = "ratio", .heading = "ratio", .right = true},
    {.name = "duel_low"},
    {.name = "duel_high"},
    {.name = "decision", .heading = "accepted because"},
    {.name = "changed", .heading = "changed", .wrap = true},
    {.name = "why"},
    {.name = "genome"},
};

static void print_decision(const struct store_champion *champion, const struct store_trial *trial,
                           char text[160]) {
    const struct outcome *outcome = trial->outcome;
    bool won_duel = trial->observed == champion->event && outcome->duel.result == DUEL_WON;
    if (champion->previous == champion->trial)
        snprintf(text, 160, "timed again");
    else if (champion->previous == STORE_NO_TRIAL)
        snprintf(text, 160, "first that passed");
    else if (won_duel)
        snprintf(text, 160, "won a duel: %.4f, 99 %% in [%.4f, %.4f], %d blocks",
                 outcome->duel.ratio, outcome->duel.low, outcome->duel.high, outcome->duel.blocks);
    else
        snprintf(text, 160, "%s", outcome->predicted ? "predicted faster" : "faster");
}

static void add_parents(struct table *table, const struct store_trial *trial) {
    char text[64];
    snprintf(text, sizeof text, trial->parent_b != STORE_NO_TRIAL ? "%lld, %lld" : "%lld",
             (long long)trial->parent_a, (long long)trial->parent_b);
    table_add(table, "%s", trial->parent_a != STORE_NO_TRIAL ? text : NULL);
}

/* Prints what an operator does; for a hint, the reason that the template gives. */
static void print_operator_about(const struct run_history *history, int goal, const char *name,
                                 char about[HINT_REASON_SIZE]) {
    struct error ignored;
    char *because = NULL, stored[HINT_META_SIZE];
    int kind = operator_parse(name, NULL);
    if (kind == OPERATOR_HINT) {
        run_solutions_hint(run_solutions_name(&history->solutions, goal), name, stored);
        store_meta_get(history->store, stored, &because, &ignored);
    }
    snprintf(about, HINT_REASON_SIZE, "%s",
             because != NULL ? because
             : kind >= 0     ? operators[kind].about
                             : "");
    free(because);
}

/* A trial without parents, as a model proposes, is compared with the previous champion. */
static int64_t parent_trial(const struct store_trial *trial, const struct store_champion *champion,
                            int which) {
    bool no_parents = trial->parent_a == STORE_NO_TRIAL;
    return which == 1 ? trial->parent_b : no_parents ? champion->previous : trial->parent_a;
}

static int add_champion(struct run_history *history, struct table *table,
                        const struct store_champion *champion, double before_us, bool *predicted,
                        struct error *error) {
    struct store_trial *trial = store_trial_read(history->store, champion->trial, error);
    struct store_trial *parents[2] = {NULL, NULL};
    int status = trial == NULL ? -1 : 0;
    for (int p = 0; status == 0 && p < 2; p++) {
        int64_t number = parent_trial(trial, champion, p);
        parents[p] =
            number != STORE_NO_TRIAL ? store_trial_read(history->store, number, error) : NULL;
        status = number != STORE_NO_TRIAL && parents[p] == NULL ? -1 : 0;
    }
    if (status == 0) {
        char changed[CHANGES_SIZE], decision[160];
        const char *const genomes[2] = {parents[0] != NULL ? parents[0]->genome : NULL,
                                        parents[1] != NULL ? parents[1]->genome : NULL};
        char about[HINT_REASON_SIZE];
        bool remeasured = champion->previous == champion->trial;
        const struct duel_outcome *duel = &trial->outcome->duel;
        bool won_duel = trial->observed == champion->event && duel->result == DUEL_WON;
        *predicted = trial->outcome->predicted;
        print_operator_about(history, trial->goal, trial->operator_name, about);
        run_history_print_changes(trial->genome, genomes, changed);
        print_decision(champion, trial, decision);
        table_add(table, "%ld %.1f %s", champion->trial, champion->accepted - history->created,
                  trial->operator_name);
        add_parents(table, trial);
        table_add(table, "%.3f %.3f %.3f %.4f %.4f %s %s %s %s", before_us, champion->score_us,
                  champion->score_us / before_us, won_duel ? duel->low : NAN,
                  won_duel ? duel->high : NAN, decision,
                  remeasured           ? ""
                  : changed[0] != '\0' ? changed
                                       : trial->genome,
                  about, trial->genome);
    }
    for (int p = 0; p < 2; p++)
        store_trial_free(parents[p]);
    store_trial_free(trial);
    return status;
}

struct table *run_history_champions(struct run_history *history, int goal, bool *predicted,
                                    struct error *error) {
    struct table *table =
        table_new(champion_columns, sizeof champion_columns / sizeof *champion_columns);
    double before_us = NAN;
    int status = 0;
    const char *unit = minimised_unit(history->minimised);
    snprintf(history->before, sizeof history->before, "before\n%s", unit);
    snprintf(history->after, sizeof history->after, "after\n%s", unit);
    table_heading(table, "before_us", history->before);
    table_heading(table, "after_us", history->after);
    for (int i = 0; i < history->champion_count && status == 0; i++) {
        if (history->champions[i].goal != goal)
            continue;
        status = add_champion(history, table, &history->champions[i], before_us, predicted, error);
        before_us = history->champions[i].score_us;
    }
    return table_or_null(table, status);
}

/* ---- elites ---- */

struct elite_rows {
    const struct run_solutions *solutions;
    struct table *table;
    int64_t rank;
    bool has_energy;
    char best[SOLUTIONS_MAX][CHANGES_SIZE]; /* genomes; empty: none yet */
};

static int add_elite(void *context, const struct store_trial *trial, struct error *error) {
    struct elite_rows *elites = context;
    char *const own = elites->best[trial->goal % elites->solutions->count];
    const bool first = *own == '\0';
    const char *const best[2] = {own, NULL};
    char differs[CHANGES_SIZE];
    (void)error;
    elites->rank++;
    if (first)
        snprintf(own, CHANGES_SIZE, "%s", trial->genome);
    run_history_print_changes(trial->genome, best, differs);
    double energy_mj = outcome_energy_mj(trial->outcome);
    elites->has_energy = elites->has_energy || energy_mj > 0;
    table_add(elites->table, "%ld %ld", elites->rank, trial->number);
    if (elites->solutions->count > 1)
        table_add(elites->table, "%s", run_solutions_name(elites->solutions, trial->goal));
    table_add(elites->table, "%.3f %.2f %s %s", trial->outcome->score_us, energy_mj,
              trial->operator_name, first ? trial->genome : differs);
    return 0;
}

/* A table with the column `solution` where a run has several. */
static struct table *table_with_solution(const struct run_history *history,
                                         const struct table_column *columns, int count) {
    struct table_column shown[16];
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (history->solutions.count > 1 || strcmp(columns[i].name, "solution") != 0)
            shown[kept++] = columns[i];
    return table_new(shown, kept);
}

struct table *run_history_elites(struct run_history *history, int goal, int count,
                                 struct error *error) {
    static const struct table_column columns[] = {
        {.name = "rank", .heading = "rank", .right = true},
        {.name = "trial", .heading = "trial", .right = true},
        {.name = "solution", .heading = "solution"},
        {.name = "score_us", .heading = "us", .right = true},
        {.name = "energy_mj", .right = true},
        {.name = "operator", .heading = "tried as"},
        {.name = "genome", .heading = "genome; then what differs from the best", .wrap = true},
    };
    struct elite_rows *elites = xcalloc(1, sizeof *elites);
    struct table *table = table_with_solution(history, columns, sizeof columns / sizeof *columns);
    elites->solutions = &history->solutions;
    elites->table = table;
    int status = store_shared_board(history->store,
                                    run_solutions_goals(&history->solutions, goal, ALL_SOLUTIONS),
                                    count, 0, add_elite, elites, error);
    table_heading(table, "score_us", minimised_unit(history->minimised));
    if (elites->has_energy)
        table_heading(table, "energy_mj", "mJ");
    free(elites);
    return table_or_null(table, status);
}

/* ---- effects of gene values ---- */

static struct gene_effects *read_effects(struct run_history *history, struct error *error) {
    if (history->effects == NULL)
        history->effects = gene_effects_read(history->store, history->config, error);
    return history->effects;
}

struct table *run_history_gene_effects(struct run_history *history, int goal, int count,
                                       struct error *error) {
    struct gene_effects *effects = read_effects(history, error);
    return effects != NULL ? gene_effects_table(effects, goal, count) : NULL;
}

int run_history_gene_changes(struct run_history *history, int goal,
                             const struct gene_changes **changes, struct error *error) {
    struct gene_effects *effects = read_effects(history, error);
    *changes = effects != NULL ? gene_effects_changes(effects, goal) : NULL;
    return effects != NULL ? 0 : -1;
}

/* ---- operators ---- */

/* The outcomes of an operator in the goals of one solution. */
struct operator_count {
    char name[STRATEGY_NAME_SIZE];
    int solution;
    int64_t observed, ok, accepted;
};

struct operator_counts {
    int solutions, count;
    struct operator_count *operators;
};

static struct operator_count *find_count(const struct operator_counts *counts, const char *name,
                                         int goal) {
    for (int k = 0; k < counts->count; k++)
        if (counts->operators[k].solution == goal % counts->solutions &&
            strcmp(counts->operators[k].name, name) == 0)
            return &counts->operators[k];
    return NULL;
}

static int add_operator(void *context, const char *name, int goal, int64_t observed, int64_t ok,
                        struct error *error) {
    struct operator_counts *counts = context;
    struct operator_count *count = find_count(counts, name, goal);
    (void)error;
    if (count == NULL) {
        counts->operators = xgrow(counts->operators, counts->count, sizeof *counts->operators);
        count = &counts->operators[counts->count++];
        *count = (struct operator_count){.solution = goal % counts->solutions};
        snprintf(count->name, STRATEGY_NAME_SIZE, "%s", name);
    }
    count->observed += observed;
    count->ok += ok;
    return 0;
}

static int compare_counts(const void *left, const void *right) {
    const struct operator_count *a = left, *b = right;
    const int names = strcmp(a->name, b->name);
    return a->observed != b->observed ? (a->observed < b->observed ? 1 : -1)
           : names != 0               ? names
                                      : a->solution - b->solution;
}

static int count_champion(struct run_history *history, struct operator_counts *counts,
                          const struct store_champion *champion, struct error *error) {
    if (champion->previous == champion->trial)
        return 0;
    struct store_trial *trial = store_trial_read(history->store, champion->trial, error);
    if (trial == NULL)
        return -1;
    struct operator_count *count = find_count(counts, trial->operator_name, trial->goal);
    if (count != NULL)
        count->accepted++;
    store_trial_free(trial);
    return 0;
}

struct table *run_history_operators(struct run_history *history, struct error *error) {
    static const struct table_column columns[] = {
        {.name = "operator", .heading = "operator"},
        {.name = "solution", .heading = "solution"},
        {.name = "trials", .heading = "trials", .right = true},
        {.name = "ok", .heading = "ok", .right = true},
        {.name = "champions", .heading = "champions", .right = true},
        {.name = "about", .heading = "what it does"},
    };
    struct operator_counts counts = {.solutions = history->solutions.count};
    int status = store_operators(history->store, add_operator, &counts, error);
    for (int i = 0; i < history->champion_count && status == 0; i++)
        status = count_champion(history, &counts, &history->champions[i], error);
    struct table *table = table_with_solution(history, columns, sizeof columns / sizeof *columns);
    if (counts.count > 0)
        qsort(counts.operators, (size_t)counts.count, sizeof *counts.operators, compare_counts);
    for (int k = 0; k < counts.count; k++) {
        const struct operator_count *count = &counts.operators[k];
        char about[HINT_REASON_SIZE];
        print_operator_about(history, count->solution, count->name, about);
        table_add(table, "%s", count->name);
        if (counts.solutions > 1)
            table_add(table, "%s", run_solutions_name(&history->solutions, count->solution));
        table_add(table, "%ld %ld %ld %s", count->observed, count->ok, count->accepted, about);
    }
    free(counts.operators);
    return table_or_null(table, status);
}

/* ---- verdicts ---- */

struct table *run_history_verdicts(struct run_history *history, struct error *error) {
    static const struct table_column columns[] = {
        {.name = "verdict", .heading = "verdict"},
        {.name = "trials", .heading = "trials", .right = true},
        {.name = "raced", .heading = "dropped by\nthe race", .right = true},
    };
    struct store_counts counts;
    if (store_count(history->store, &counts, error) < 0)
        return NULL;
    struct table *table = table_new(columns, 3);
    for (int v = 0; v < VERDICT_COUNT; v++) {
        if (counts.verdicts[v] == 0)
            continue;
        table_add(table, v == VERDICT_OK ? "%s %ld %ld" : "%s %ld -", verdict_name((enum verdict)v),
                  counts.verdicts[v], counts.raced);
    }
    return table;
}

static int add_reason(void *context, enum verdict verdict, const char *reason, int64_t count,
                      struct error *error) {
    struct table *table = context;
    (void)error;
    table_add(table, "%ld %s %s", count, verdict_name(verdict), reason);
    return 0;
}

struct table *run_history_reasons(struct run_history *history, int count, struct error *error) {
    static const struct table_column columns[] = {
        {.name = "trials", .heading = "trials", .right = true},
        {.name = "verdict", .heading = "verdict"},
        {.name = "reason", .heading = "reason", .wrap = true},
    };
    struct table *table = table_new(columns, 3);
    return table_or_null(table, store_reasons(history->store, count, add_reason, table, error));
}

/* ---- the scaling check ---- */

struct scaling_cases {
    int count;
    struct scaling_case cases[CASES_MAX];
    char names[CASES_MAX][CASE_NAME_SIZE];
};

/* Collects the champions' figures: all cases of a joint goal, or the single case of each goal. */
static int collect_cases(struct run_history *history, struct scaling_cases *shapes,
                         struct error *error) {
    int goals = store_goal_count(history->store);
    for (int goal = 0; goal < goals; goal += history->solutions.count) {
        int64_t best = store_shared_ranked(
            history->store, run_solutions_goals(&history->solutions, goal, ALL_SOLUTIONS), 1,
            error);
        if (best == STORE_NO_TRIAL)
            continue;
        struct store_trial *trial = best < 0 ? NULL : store_trial_read(history->store, best, error);
        if (trial == NULL)
            return -1;
        for (int c = 0; c < trial->outcome->case_count && shapes->count < CASES_MAX; c++) {
            run_dir_case_name(history->store, history->config, goal, trial->outcome->case_count, c,
                              shapes->names[shapes->count]);
            shapes->cases[shapes->count++] = scaling_from_outcome(&trial->outcome->cases[c]);
        }
        store_trial_free(trial);
    }
    return 0;
}

struct table *run_history_scaling(struct run_history *history, int *compared, struct error *error) {
    static const struct table_column columns[] = {
        {.name = "case", .heading = "case"},
        {.name = "after", .heading = "relative to the case"},
        {.name = "time_ratio", .heading = "time\ngrows", .right = true},
        {.name = "work_ratio", .heading = "work\ngrows", .right = true},
    };
    struct scaling_cases *shapes = xcalloc(1, sizeof *shapes);
    struct scaling_flag flags[CASES_MAX];
    int status = collect_cases(history, shapes, error);
    int count = status == 0 ? scaling_check(shapes->cases, shapes->count, flags) : 0;
    struct table *table = table_new(columns, 4);
    for (int i = 0; i < count; i++) {
        table_add(table, "%s %s %.2f %.2f", shapes->names[flags[i].to],
                  shapes->names[flags[i].from], flags[i].time_ratio, flags[i].work_ratio);
    }
    *compared = shapes->count;
    free(shapes);
    return table_or_null(table, status);
}
