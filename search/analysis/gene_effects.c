#include "analysis/gene_effects.h"

#include "base/memory.h"
#include "run/run_dir.h"
#include "strategy/effects.h"

#include <math.h>
#include <string.h>

enum { TRIALS_MIN = 5, EFFECT_TEXT_SIZE = 160 };

/* Half the width of a 99 % interval, in standard errors. With so many values, a 95 % interval would
   often be wrong for one of them. */
static const double half_width = 2.576;

/* A significant effect of a value, or of a pair of values. */
struct gene_effect {
    int first, first_value, second, second_value;
    double log_ratio;    /* log of the mean score over the expected one; NAN: always failed */
    double deviation;    /* standard error of log_ratio */
    double significance; /* significance, for the ranking */
};

struct gene_effects {
    int goal_count; /* 0: the spaces are unknown */
    struct template *templates[GOALS_MAX];
    struct effects *effects[GOALS_MAX];
};

struct significant_effects {
    const struct space *space;
    const struct effects *effects;
    double mean, spread;
    int count;
    struct gene_effect *all;
};

/* ---- reading ---- */

static int add_trial(void *context, int goal, const char *text, enum verdict verdict,
                     double score_us, struct error *error) {
    struct gene_effects *all = context;
    struct genome genome;
    if (genome_parse(&genome, all->templates[goal]->space, text, error) < 0)
        return -1;
    effects_add(all->effects[goal], &genome, verdict == VERDICT_OK ? log(score_us) : NAN);
    return 0;
}

static int read_effects(struct gene_effects *all, struct store *store, const struct config *config,
                        struct error *error) {
    struct device_info device;
    int known = config != NULL ? run_dir_device(store, &device, error) : 0;
    if (known <= 0)
        return known;
    for (int goal = 0; goal < store_goal_count(store); goal++) {
        all->templates[goal] = config_load_template(config, goal, &device, error);
        if (all->templates[goal] == NULL)
            return -1;
        all->effects[goal] = effects_new(all->templates[goal]->space);
        all->goal_count++;
    }
    return store_scores(store, add_trial, all, error);
}

struct gene_effects *gene_effects_read(struct store *store, const struct config *config,
                                       struct error *error) {
    struct gene_effects *all = xcalloc(1, sizeof *all);
    if (read_effects(all, store, config, error) == 0)
        return all;
    gene_effects_free(all);
    return NULL;
}

void gene_effects_free(struct gene_effects *all) {
    if (all == NULL)
        return;
    for (int goal = 0; goal < all->goal_count; goal++) {
        effects_free(all->effects[goal]);
        template_free(all->templates[goal]);
    }
    free(all);
}

/* ---- finding significant effects ---- */

static void add_effect(struct significant_effects *found, const struct gene_effect *row) {
    found->all = xgrow(found->all, found->count, sizeof *found->all);
    found->all[found->count++] = *row;
}

static bool always_fails(const struct effect *effect) {
    return effect->count == 0 && effect->failures >= ALWAYS_FAILED_MIN;
}

/* The difference of the effect's mean log score from that of all trials. */
static double log_difference(const struct significant_effects *found, const struct effect *effect) {
    return effect->count > 0 ? effect->sum / effect->count - found->mean : 0;
}

/* Adds the effect if it is significant. `expected`: the log ratio without it; for a pair, the sum
   of the two values' own. */
static void test_value(struct significant_effects *found, struct gene_effect row,
                       const struct effect *effect, double expected) {
    if (always_fails(effect)) {
        row.log_ratio = row.deviation = NAN;
        row.significance = effect->failures;
        add_effect(found, &row);
    }
    if (effect->count < TRIALS_MIN)
        return;
    row.log_ratio = log_difference(found, effect) - expected;
    row.deviation = found->spread / sqrt(effect->count);
    row.significance = fabs(row.log_ratio) / row.deviation;
    if (row.significance > half_width)
        add_effect(found, &row);
}

static void test_pairs(struct significant_effects *found, int first, int a,
                       const struct effect *alone) {
    const struct space *space = found->space;
    for (int second = first + 1; second < space->gene_count; second++)
        for (int b = 0; b < space->genes[second].count; b++) {
            const struct effect *other = effects_find(found->effects, second, b, EFFECT_SINGLE, 0);
            if (!always_fails(alone) &&
                !always_fails(other)) /* else the single value explains it */
                test_value(found, (struct gene_effect){first, a, second, b, 0, 0, 0},
                           effects_find(found->effects, first, a, second, b),
                           log_difference(found, alone) + log_difference(found, other));
        }
}

static int by_significance(const void *left, const void *right) {
    const struct gene_effect *a = left, *b = right;
    return a->significance != b->significance ? (a->significance > b->significance ? -1 : 1)
                                              : a->first - b->first;
}

static void test_all(struct significant_effects *found) {
    for (int gene = 0; gene < found->space->gene_count; gene++)
        for (int value = 0; value < found->space->genes[gene].count; value++) {
            const struct effect *alone =
                effects_find(found->effects, gene, value, EFFECT_SINGLE, 0);
            test_value(found, (struct gene_effect){gene, value, EFFECT_SINGLE, 0, 0, 0, 0}, alone,
                       0);
            test_pairs(found, gene, value, alone);
        }
    if (found->count > 0)
        qsort(found->all, (size_t)found->count, sizeof *found->all, by_significance);
}

/* ---- the table ---- */

static void add_row(struct table *table, const struct significant_effects *found,
                    const struct gene_effect *row) {
    const struct space *space = found->space;
    const struct effect *effect =
        effects_find(found->effects, row->first, row->first_value, row->second, row->second_value);
    bool pair = row->second != EFFECT_SINGLE;
    char value[NAME_SIZE], other[NAME_SIZE], text[EFFECT_TEXT_SIZE];
    space_value_text(space, row->first, row->first_value, value);
    if (pair)
        space_value_text(space, row->second, row->second_value, other);
    snprintf(text, sizeof text, "%s=%s%s%s%s%s", space->genes[row->first].name, value,
             pair ? "," : "", pair ? space->genes[row->second].name : "", pair ? "=" : "",
             pair ? other : "");
    double half = half_width * row->deviation;
    table_add(table, "%s %ld %ld %.2f %.2f %.2f %s", text,
              (int64_t)(effect->count + effect->failures), (int64_t)effect->failures,
              exp(row->log_ratio), exp(row->log_ratio - half), exp(row->log_ratio + half),
              isnan(row->log_ratio) ? "always failed"
              : pair                ? (row->log_ratio < 0 ? "faster together" : "slower together")
                                    : (row->log_ratio < 0 ? "faster" : "slower"));
}

static struct table *make_table(const struct significant_effects *found, int rows_max) {
    static const struct table_column columns[] = {
        {.name = "values", .heading = "with"},
        {.name = "trials", .heading = "trials", .right = true},
        {.name = "failed", .heading = "failed", .right = true},
        {.name = "ratio", .heading = "ratio", .right = true},
        {.name = "low", .heading = "99 %\nfrom", .right = true},
        {.name = "high", .heading = "to", .right = true},
        {.name = "lesson", .heading = "is"},
    };
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < found->count && i < rows_max; i++)
        add_row(table, found, &found->all[i]);
    return table;
}

struct table *gene_effects_table(const struct gene_effects *all, int goal, int rows_max) {
    struct significant_effects found = {0};
    double count;
    if (goal >= all->goal_count)
        return make_table(&found, 0);
    found.space = all->templates[goal]->space;
    found.effects = all->effects[goal];
    effects_overall(found.effects, &count, &found.mean, &found.spread);
    test_all(&found);
    struct table *table = make_table(&found, rows_max);
    free(found.all);
    return table;
}
