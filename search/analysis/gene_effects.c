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
    struct template *templates[CASES_MAX];
    struct effects *effects[CASES_MAX];
};

struct significant_effects {
    const struct space *space;
    const struct effects *effects;
    double mean, spread;
    int count, room;
    struct gene_effect *gene_effects;
};

/* ---- reading ---- */

static int add_trial(void *context, int goal, const char *text, enum verdict verdict,
                     double score_us, struct error *error) {
    struct gene_effects *gene_effects = context;
    struct genome genome;
    if (genome_parse(&genome, gene_effects->templates[goal]->space, text, error) < 0)
        return -1;
    effects_add(gene_effects->effects[goal], &genome, verdict == VERDICT_OK ? log(score_us) : NAN);
    return 0;
}

static int read_effects(struct gene_effects *gene_effects, struct store *store,
                        const struct config *config, struct error *error) {
    struct device_info device;
    int known = config != NULL ? run_dir_device(store, &device, error) : 0;
    if (known <= 0)
        return known;
    for (int goal = 0; goal < store_goal_count(store); goal++) {
        gene_effects->templates[goal] = config_load_template(config, goal, &device, error);
        if (gene_effects->templates[goal] == NULL)
            return -1;
        gene_effects->effects[goal] = effects_new(gene_effects->templates[goal]->space);
        gene_effects->goal_count++;
    }
    return store_scores(store, add_trial, gene_effects, error);
}

struct gene_effects *gene_effects_read(struct store *store, const struct config *config,
                                       struct error *error) {
    struct gene_effects *gene_effects = xcalloc(1, sizeof *gene_effects);
    if (read_effects(gene_effects, store, config, error) == 0)
        return gene_effects;
    gene_effects_free(gene_effects);
    return NULL;
}

void gene_effects_free(struct gene_effects *gene_effects) {
    if (gene_effects == NULL)
        return;
    for (int goal = 0; goal < gene_effects->goal_count; goal++) {
        effects_free(gene_effects->effects[goal]);
        template_free(gene_effects->templates[goal]);
    }
    free(gene_effects);
}

/* ---- finding significant effects ---- */

static void add_effect(struct significant_effects *found, const struct gene_effect *effect_row) {
    if (found->count == found->room) {
        found->room = found->room > 0 ? 2 * found->room : 64;
        found->gene_effects =
            xrealloc(found->gene_effects, (size_t)found->room * sizeof *found->gene_effects);
    }
    found->gene_effects[found->count++] = *effect_row;
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
static void test_value(struct significant_effects *found, struct gene_effect effect_row,
                       const struct effect *effect, double expected) {
    if (always_fails(effect)) {
        effect_row.log_ratio = effect_row.deviation = NAN;
        effect_row.significance = effect->failures;
        add_effect(found, &effect_row);
    }
    if (effect->count < TRIALS_MIN)
        return;
    effect_row.log_ratio = log_difference(found, effect) - expected;
    effect_row.deviation = found->spread / sqrt(effect->count);
    effect_row.significance = fabs(effect_row.log_ratio) / effect_row.deviation;
    if (effect_row.significance > half_width)
        add_effect(found, &effect_row);
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
        qsort(found->gene_effects, (size_t)found->count, sizeof *found->gene_effects,
              by_significance);
}

/* ---- the table ---- */

static void add_row(struct table *table, const struct significant_effects *found,
                    const struct gene_effect *effect_row) {
    const struct space *space = found->space;
    const struct effect *effect =
        effects_find(found->effects, effect_row->first, effect_row->first_value, effect_row->second,
                     effect_row->second_value);
    bool pair = effect_row->second != EFFECT_SINGLE;
    char value[NAME_SIZE], other[NAME_SIZE], text[EFFECT_TEXT_SIZE];
    space_value_text(space, effect_row->first, effect_row->first_value, value);
    if (pair)
        space_value_text(space, effect_row->second, effect_row->second_value, other);
    snprintf(text, sizeof text, "%s=%s%s%s%s%s", space->genes[effect_row->first].name, value,
             pair ? "," : "", pair ? space->genes[effect_row->second].name : "", pair ? "=" : "",
             pair ? other : "");
    double half = half_width * effect_row->deviation;
    table_text(table, text);
    table_integer(table, (int64_t)(effect->count + effect->failures));
    table_integer(table, (int64_t)effect->failures);
    table_number(table, exp(effect_row->log_ratio), 2);
    table_number(table, exp(effect_row->log_ratio - half), 2);
    table_number(table, exp(effect_row->log_ratio + half), 2);
    table_text(table, isnan(effect_row->log_ratio) ? "always failed"
                      : pair ? (effect_row->log_ratio < 0 ? "faster together" : "slower together")
                             : (effect_row->log_ratio < 0 ? "faster" : "slower"));
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
        add_row(table, found, &found->gene_effects[i]);
    return table;
}

struct table *gene_effects_table(const struct gene_effects *gene_effects, int goal, int rows_max) {
    struct significant_effects found = {0};
    double count;
    if (goal >= gene_effects->goal_count)
        return make_table(&found, 0);
    found.space = gene_effects->templates[goal]->space;
    found.effects = gene_effects->effects[goal];
    effects_overall(found.effects, &count, &found.mean, &found.spread);
    test_all(&found);
    struct table *table = make_table(&found, rows_max);
    free(found.gene_effects);
    return table;
}
