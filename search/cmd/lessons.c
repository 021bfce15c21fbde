#include "cmd/lessons.h"

#include "cmd/session.h"
#include "evolve/effects.h"

#include <math.h>
#include <string.h>

enum { LEAST_TRIALS = 5, LESSON_TEXT = 160 };

/* Half the width of a 99 % interval, in standard errors. With so many values, a 95 % interval would
   often be wrong for one of them. */
static const double width = 2.576;

/* A significant effect of a value, or of a pair of values. */
struct lesson {
    int first, first_value, second, second_value;
    double log_ratio; /* log of the mean score over the expected one; NAN: always failed */
    double deviation; /* standard error of log_ratio */
    double sureness;  /* significance, for the ranking */
};

struct lessons {
    int goal_count; /* 0: the spaces are unknown */
    struct template *templates[CASES_MAX];
    struct effects *effects[CASES_MAX];
};

struct found {
    const struct space *space;
    const struct effects *effects;
    double mean, spread;
    int count, room;
    struct lesson *lessons;
};

/* ---- reading ---- */

static int learn(void *context, int goal, const char *text, enum verdict verdict, double score_us,
                 struct error *error) {
    struct lessons *lessons = context;
    struct genome genome;
    if (genome_parse(&genome, lessons->templates[goal]->space, text, error) < 0)
        return -1;
    effects_learn(lessons->effects[goal], &genome, verdict == VERDICT_OK ? log(score_us) : NAN);
    return 0;
}

static int read_goals(struct lessons *lessons, struct store *store, const struct config *config,
                      struct error *error) {
    struct device_info device;
    int known = config != NULL ? session_device(store, &device, error) : 0;
    if (known <= 0)
        return known;
    for (int goal = 0; goal < store_goal_count(store); goal++) {
        lessons->templates[goal] = config_load_template(config, goal, &device, error);
        if (lessons->templates[goal] == NULL)
            return -1;
        lessons->effects[goal] = effects_new(lessons->templates[goal]->space);
        lessons->goal_count++;
    }
    return store_scores(store, learn, lessons, error);
}

struct lessons *lessons_read(struct store *store, const struct config *config,
                             struct error *error) {
    struct lessons *lessons = calloc(1, sizeof *lessons);
    if (lessons == NULL)
        BUG("out of memory");
    if (read_goals(lessons, store, config, error) == 0)
        return lessons;
    lessons_free(lessons);
    return NULL;
}

void lessons_free(struct lessons *lessons) {
    if (lessons == NULL)
        return;
    for (int goal = 0; goal < lessons->goal_count; goal++) {
        effects_free(lessons->effects[goal]);
        template_free(lessons->templates[goal]);
    }
    free(lessons);
}

/* ---- finding significant effects ---- */

static void add(struct found *found, const struct lesson *lesson) {
    if (found->count == found->room) {
        found->room = found->room > 0 ? 2 * found->room : 64;
        found->lessons = realloc(found->lessons, (size_t)found->room * sizeof *found->lessons);
        if (found->lessons == NULL)
            BUG("out of memory");
    }
    found->lessons[found->count++] = *lesson;
}

static bool always_fails(const struct effect *effect) {
    return effect->count == 0 && effect->failures >= DOOMED_LEAST;
}

/* The difference of the effect's mean log score from that of all trials. */
static double apart(const struct found *found, const struct effect *effect) {
    return effect->count > 0 ? effect->sum / effect->count - found->mean : 0;
}

/* Adds the effect if it is significant. `expected`: the log ratio without it; for a pair, the sum
   of the two values' own. */
static void consider(struct found *found, struct lesson lesson, const struct effect *effect,
                     double expected) {
    if (always_fails(effect)) {
        lesson.log_ratio = lesson.deviation = NAN;
        lesson.sureness = effect->failures;
        add(found, &lesson);
    }
    if (effect->count < LEAST_TRIALS)
        return;
    lesson.log_ratio = apart(found, effect) - expected;
    lesson.deviation = found->spread / sqrt(effect->count);
    lesson.sureness = fabs(lesson.log_ratio) / lesson.deviation;
    if (lesson.sureness > width)
        add(found, &lesson);
}

static void consider_pairs(struct found *found, int first, int a, const struct effect *alone) {
    const struct space *space = found->space;
    for (int second = first + 1; second < space->gene_count; second++)
        for (int b = 0; b < space->genes[second].count; b++) {
            const struct effect *other = effects_of(found->effects, second, b, EFFECT_ALONE, 0);
            if (!always_fails(alone) &&
                !always_fails(other)) /* else the single value explains it */
                consider(found, (struct lesson){first, a, second, b, 0, 0, 0},
                         effects_of(found->effects, first, a, second, b),
                         apart(found, alone) + apart(found, other));
        }
}

static int by_sureness(const void *left, const void *right) {
    const struct lesson *a = left, *b = right;
    return a->sureness != b->sureness ? (a->sureness > b->sureness ? -1 : 1) : a->first - b->first;
}

static void consider_all(struct found *found) {
    for (int gene = 0; gene < found->space->gene_count; gene++)
        for (int value = 0; value < found->space->genes[gene].count; value++) {
            const struct effect *alone = effects_of(found->effects, gene, value, EFFECT_ALONE, 0);
            consider(found, (struct lesson){gene, value, EFFECT_ALONE, 0, 0, 0, 0}, alone, 0);
            consider_pairs(found, gene, value, alone);
        }
    if (found->count > 0)
        qsort(found->lessons, (size_t)found->count, sizeof *found->lessons, by_sureness);
}

/* ---- the table ---- */

static void add_row(struct table *table, const struct found *found, const struct lesson *lesson) {
    const struct space *space = found->space;
    const struct effect *effect = effects_of(found->effects, lesson->first, lesson->first_value,
                                             lesson->second, lesson->second_value);
    bool pair = lesson->second != EFFECT_ALONE;
    char value[NAME_SIZE], other[NAME_SIZE], text[LESSON_TEXT];
    space_value_text(space, lesson->first, lesson->first_value, value);
    if (pair)
        space_value_text(space, lesson->second, lesson->second_value, other);
    snprintf(text, sizeof text, "%s=%s%s%s%s%s", space->genes[lesson->first].name, value,
             pair ? "," : "", pair ? space->genes[lesson->second].name : "", pair ? "=" : "",
             pair ? other : "");
    double half = width * lesson->deviation;
    table_text(table, text);
    table_integer(table, (int64_t)(effect->count + effect->failures));
    table_integer(table, (int64_t)effect->failures);
    table_number(table, exp(lesson->log_ratio), 2);
    table_number(table, exp(lesson->log_ratio - half), 2);
    table_number(table, exp(lesson->log_ratio + half), 2);
    table_text(table, isnan(lesson->log_ratio) ? "always failed"
                      : pair ? (lesson->log_ratio < 0 ? "faster together" : "slower together")
                             : (lesson->log_ratio < 0 ? "faster" : "slower"));
}

static struct table *table_of(const struct found *found, int most) {
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
    for (int i = 0; i < found->count && i < most; i++)
        add_row(table, found, &found->lessons[i]);
    return table;
}

struct table *lessons_table(const struct lessons *lessons, int goal, int most) {
    struct found found = {0};
    double count;
    if (goal >= lessons->goal_count)
        return table_of(&found, 0);
    found.space = lessons->templates[goal]->space;
    found.effects = lessons->effects[goal];
    effects_overall(found.effects, &count, &found.mean, &found.spread);
    consider_all(&found);
    struct table *table = table_of(&found, most);
    free(found.lessons);
    return table;
}
