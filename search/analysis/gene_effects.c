#include "analysis/gene_effects.h"

#include "base/memory.h"
#include "outcome/minimised.h"
#include "run/run_dir.h"
#include "strategy/failures.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { CHANGE_SIZE = 4 * NAME_SIZE + 16 };

struct goal_effects {
    struct template *template;
    struct failures *failures;
    struct effect_trial *trials; /* the valid ones */
    int count;
    int64_t champion; /* its trial; STORE_NO_TRIAL */
    bool has_champion, is_fitted;
    struct gene_changes changes;
};

struct gene_effects {
    enum minimised minimised;
    struct store *store;
    int goal_count; /* 0: the spaces are unknown */
    struct goal_effects goals[GOALS_MAX];
};

/* ---- reading ---- */

static int add_champion(void *context, const struct store_champion *champion, struct error *error) {
    struct gene_effects *all = context;
    (void)error;
    if (champion->goal < all->goal_count)
        all->goals[champion->goal].champion = champion->trial;
    return 0;
}

static int add_trial(void *context, int64_t number, int goal, const char *text,
                     enum verdict verdict, double score, struct error *error) {
    struct goal_effects *of = &((struct gene_effects *)context)->goals[goal];
    struct genome genome;
    if (genome_parse(&genome, of->template->space, text, error) < 0)
        return -1;
    failures_add(of->failures, &genome, verdict != VERDICT_OK);
    if (verdict != VERDICT_OK)
        return 0;
    of->trials = xgrow(of->trials, of->count, sizeof *of->trials);
    of->trials[of->count++] = (struct effect_trial){genome, score, 0, number};
    if (number == of->champion) {
        of->changes.champion = genome;
        of->has_champion = true;
    }
    return 0;
}

/* Of the trials that make the model; reading all outcomes of a long run takes seconds. */
static int read_errors(const struct gene_effects *all, struct goal_effects *of,
                       struct error *error) {
    of->changes.trials = of->count;
    of->count = effects_choose(of->trials, of->count, EFFECTS_TRIALS_MAX);
    of->changes.fitted = of->count;
    for (int i = 0; i < of->count; i++) {
        struct store_trial *trial = store_trial_read(all->store, of->trials[i].number, error);
        if (trial == NULL)
            return -1;
        of->trials[i].error = minimised_repeat_error(trial->outcome, all->minimised);
        store_trial_free(trial);
    }
    return 0;
}

static int read_goals(struct gene_effects *all, const struct config *config, struct error *error) {
    struct device_info device;
    int known = config != NULL ? run_dir_device(all->store, &device, error) : 0;
    if (known <= 0)
        return known;
    for (int goal = 0; goal < store_goal_count(all->store); goal++) {
        struct goal_effects *of = &all->goals[goal];
        of->template = config_load_template(config, goal, &device, error);
        if (of->template == NULL)
            return -1;
        of->failures = failures_new(of->template->space);
        of->champion = STORE_NO_TRIAL;
        of->changes.space = of->template->space;
        all->goal_count++;
    }
    if (store_champions(all->store, add_champion, all, error) < 0 ||
        store_scores(all->store, add_trial, all, error) < 0)
        return -1;
    for (int goal = 0; goal < all->goal_count; goal++)
        if (read_errors(all, &all->goals[goal], error) < 0)
            return -1;
    return 0;
}

struct gene_effects *gene_effects_read(struct store *store, const struct config *config,
                                       struct error *error) {
    struct gene_effects *all = xcalloc(1, sizeof *all);
    all->store = store;
    if (run_dir_minimised(store, &all->minimised, error) == 0 &&
        read_goals(all, config, error) == 0)
        return all;
    gene_effects_free(all);
    return NULL;
}

void gene_effects_free(struct gene_effects *all) {
    if (all == NULL)
        return;
    for (int goal = 0; goal < GOALS_MAX; goal++) {
        free(all->goals[goal].trials);
        free(all->goals[goal].changes.rows);
        failures_free(all->goals[goal].failures);
        template_free(all->goals[goal].template);
    }
    free(all);
}

/* ---- effects at the champion ---- */

/* A genome that is likely to fail has no time. */
static void add_change(const struct effects *effects, struct goal_effects *of, int gene,
                       int value) {
    struct gene_changes *changes = &of->changes;
    struct genome genome = changes->champion;
    genome.value[gene] = (uint8_t)value;
    genome_canonicalise(&genome, changes->space);
    if (genome.value[gene] != value || !space_check(changes->space, &genome, NULL) ||
        failures_contain(of->failures, &genome))
        return;
    changes->rows = xgrow(changes->rows, changes->count, sizeof *changes->rows);
    changes->rows[changes->count++] = (struct gene_change){
        gene, value, genome, effects_between(effects, &changes->champion, &genome)};
}

static void fit_goal(struct goal_effects *of) {
    const struct space *space = of->changes.space;
    struct effects *effects = effects_new(space);
    of->is_fitted = true;
    if (of->has_champion && effects_fit(effects, of->trials, of->count))
        for (int gene = 0; gene < space->gene_count; gene++)
            for (int value = 0; value < space->genes[gene].count; value++)
                if (value != of->changes.champion.value[gene])
                    add_change(effects, of, gene, value);
    effects_free(effects);
}

const struct gene_changes *gene_effects_changes(struct gene_effects *all, int goal) {
    if (goal >= all->goal_count)
        return NULL;
    if (!all->goals[goal].is_fitted)
        fit_goal(&all->goals[goal]);
    return &all->goals[goal].changes;
}

/* ---- the table ---- */

void gene_effects_print_evidence(const struct effect *effect, char text[EVIDENCE_SIZE]) {
    if (effect->measured)
        snprintf(text, EVIDENCE_SIZE, "measured");
    else if (effect->pairs > 0)
        snprintf(text, EVIDENCE_SIZE, "model: %d trials with it, %d pair%s", effect->tried,
                 effect->pairs, effect->pairs == 1 ? "" : "s");
    else
        snprintf(text, EVIDENCE_SIZE, "model: %d trials with it", effect->tried);
}

static void add_failure(struct table *table, const struct goal_effects *of, int first, int a,
                        int second, int b) {
    const struct space *space = of->changes.space;
    const struct failure_count count = failures_find(of->failures, first, a, second, b);
    const bool pair = second != FAILURES_SINGLE;
    char value[NAME_SIZE], other[NAME_SIZE], text[CHANGE_SIZE], evidence[EVIDENCE_SIZE];
    space_value_text(space, first, a, value);
    if (pair)
        space_value_text(space, second, b, other);
    snprintf(text, sizeof text, "%s=%s%s%s%s%s", space->genes[first].name, value, pair ? "," : "",
             pair ? space->genes[second].name : "", pair ? "=" : "", pair ? other : "");
    snprintf(evidence, sizeof evidence, "all %" PRIu32 " trials with it", count.trials);
    table_add(table, "%s - - - %s %s %ld %ld", text, "always failed", evidence,
              (int64_t)count.trials, (int64_t)0);
}

static bool always(const struct goal_effects *of, int first, int a, int second, int b) {
    return failures_always(of->failures, failures_find(of->failures, first, a, second, b));
}

/* Values that always failed, and pairs of values of which neither did. */
static void add_failures(struct table *table, const struct goal_effects *of, int rows_max) {
    const struct space *space = of->changes.space;
    for (int first = 0; first < space->gene_count; first++)
        for (int a = 0; a < space->genes[first].count; a++) {
            if (always(of, first, a, FAILURES_SINGLE, 0)) {
                if (table_row_count(table) < rows_max)
                    add_failure(table, of, first, a, FAILURES_SINGLE, 0);
                continue;
            }
            for (int second = first + 1; second < space->gene_count; second++)
                for (int b = 0; b < space->genes[second].count; b++)
                    if (table_row_count(table) < rows_max && always(of, first, a, second, b) &&
                        !always(of, second, b, FAILURES_SINGLE, 0))
                        add_failure(table, of, first, a, second, b);
        }
}

static void add_effect(struct table *table, const struct gene_changes *changes,
                       const struct gene_change *row) {
    const struct effect *effect = &row->effect;
    char from[NAME_SIZE], to[NAME_SIZE], text[CHANGE_SIZE], evidence[EVIDENCE_SIZE];
    space_value_text(changes->space, row->gene, changes->champion.value[row->gene], from);
    space_value_text(changes->space, row->gene, row->value, to);
    snprintf(text, sizeof text, "%s %s -> %s", changes->space->genes[row->gene].name, from, to);
    gene_effects_print_evidence(effect, evidence);
    table_add(table, "%s %.2f %.2f %.2f %s %s %ld %ld", text, effect->ratio, effect->low,
              isfinite(effect->high) ? effect->high : NAN, effect->low > 1 ? "slower" : "faster",
              evidence, (int64_t)effect->tried, (int64_t)effect->pairs);
}

double gene_effects_least(const struct effect *effect) {
    return !effect_is_certain(effect) ? 0 : effect->low > 1 ? log(effect->low) : -log(effect->high);
}

static int by_least_effect(const void *left, const void *right) {
    const struct gene_change *a = *(const struct gene_change *const *)left,
                             *b = *(const struct gene_change *const *)right;
    const double first = gene_effects_least(&a->effect);
    const double second = gene_effects_least(&b->effect);
    return first != second ? (first > second ? -1 : 1) : a < b ? -1 : a > b;
}

static void add_effects(struct table *table, const struct gene_changes *changes, int rows_max) {
    const struct gene_change **certain = xmalloc(((size_t)changes->count + 1) * sizeof *certain);
    int count = 0;
    for (int i = 0; i < changes->count; i++)
        if (effect_is_certain(&changes->rows[i].effect))
            certain[count++] = &changes->rows[i];
    qsort(certain, (size_t)count, sizeof *certain, by_least_effect);
    for (int i = 0; i < count && table_row_count(table) < rows_max; i++)
        add_effect(table, changes, certain[i]);
    free(certain);
}

struct table *gene_effects_table(struct gene_effects *all, int goal, int rows_max) {
    static const struct table_column columns[] = {
        {.name = "change", .heading = "change"},
        {.name = "ratio", .heading = "ratio", .right = true},
        {.name = "low", .heading = "99 %\nfrom", .right = true},
        {.name = "high", .heading = "to", .right = true},
        {.name = "lesson", .heading = "is"},
        {.name = "evidence", .heading = "which rests on"},
        {.name = "trials"},
        {.name = "pairs"},
    };
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    const struct gene_changes *changes = gene_effects_changes(all, goal);
    if (changes == NULL)
        return table;
    add_failures(table, &all->goals[goal], rows_max);
    add_effects(table, changes, rows_max);
    return table;
}
