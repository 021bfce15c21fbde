#include "evolve/effects.h"

#include "base/error.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>

/* Weight of the priors, in trials: a value is like all others; a pair has the sum of its values'
   effects. */
static const double prior_count = 1;
/* A failure counts as a score this many standard deviations above the mean. */
static const double failure_deviations = 2;

struct effects {
    const struct space *space;
    double count, sum, square; /* over all successful trials */
    struct effect alone[GENES_MAX][DOMAIN_MAX];
    size_t begins[GENES_MAX][GENES_MAX]; /* offset of a pair's cells; first < second */
    struct effect *pairs;
};

struct effects *effects_new(const struct space *space) {
    struct effects *effects = calloc(1, sizeof *effects);
    size_t cells = 0;
    if (effects == NULL)
        BUG("out of memory");
    effects->space = space;
    for (int a = 0; a < space->gene_count; a++)
        for (int b = a + 1; b < space->gene_count; b++) {
            effects->begins[a][b] = cells;
            cells += (size_t)space->genes[a].count * (size_t)space->genes[b].count;
        }
    effects->pairs = calloc(cells + 1, sizeof *effects->pairs);
    if (effects->pairs == NULL)
        BUG("out of memory");
    return effects;
}

void effects_free(struct effects *effects) {
    if (effects == NULL)
        return;
    free(effects->pairs);
    free(effects);
}

static struct effect *cell(const struct effects *effects, int first, int first_value, int second,
                           int second_value) {
    return &effects->pairs[effects->begins[first][second] +
                           (size_t)first_value * (size_t)effects->space->genes[second].count +
                           (size_t)second_value];
}

const struct effect *effects_of(const struct effects *effects, int first, int first_value,
                                int second, int second_value) {
    if (second == EFFECT_ALONE)
        return &effects->alone[first][first_value];
    return first < second ? cell(effects, first, first_value, second, second_value)
                          : cell(effects, second, second_value, first, first_value);
}

static void learn(struct effect *effect, bool ok, double log_score) {
    effect->count += ok;
    effect->sum += ok ? (float)log_score : 0;
    effect->failures += !ok;
}

void effects_learn(struct effects *effects, const struct genome *genome, double log_score) {
    bool ok = !isnan(log_score);
    int count = effects->space->gene_count;
    if (ok) {
        effects->count++;
        effects->sum += log_score;
        effects->square += log_score * log_score;
    }
    for (int a = 0; a < count; a++) {
        learn(&effects->alone[a][genome->value[a]], ok, log_score);
        for (int b = a + 1; b < count; b++)
            learn(cell(effects, a, genome->value[a], b, genome->value[b]), ok, log_score);
    }
}

void effects_overall(const struct effects *effects, double *count, double *mean,
                     double *deviation) {
    double total = fmax(effects->count, 1);
    *count = effects->count;
    *mean = effects->sum / total;
    *deviation = sqrt(fmax(effects->square / total - *mean * *mean, 1e-12));
}

/* ---- Thompson sampling ---- */

/* An approximately normal draw from four uniforms: mean 0, variance 1. */
static double bell(struct random *random) {
    double sum = -2;
    for (int i = 0; i < 4; i++)
        sum += random_uniform(random);
    return sum * 1.7320508075688772;
}

struct overall {
    double mean, deviation, bad;
};

/* The posterior mean of the log score, given the prior mean. */
static double believed(const struct effect *effect, double before, const struct overall *overall) {
    return (effect->sum + effect->failures * overall->bad + prior_count * before) /
           (effect->count + effect->failures + prior_count);
}

static double drawn(const struct effect *effect, double before, const struct overall *overall,
                    struct random *random) {
    double count = effect->count + effect->failures + prior_count;
    return believed(effect, before, overall) + overall->deviation / sqrt(count) * bell(random);
}

void effects_draw(const struct effects *effects, int first, int second, struct random *random,
                  struct genome *genome) {
    const struct gene *genes = effects->space->genes;
    double count, least = INFINITY;
    struct overall overall;
    effects_overall(effects, &count, &overall.mean, &overall.deviation);
    overall.bad = overall.mean + failure_deviations * overall.deviation;
    for (int a = 0; a < genes[first].count; a++) {
        const struct effect *alone = &effects->alone[first][a];
        for (int b = 0; b < (second >= 0 ? genes[second].count : 1); b++) {
            double value;
            if (second < 0)
                value = drawn(alone, overall.mean, &overall, random);
            else
                value = drawn(effects_of(effects, first, a, second, b),
                              believed(alone, overall.mean, &overall) +
                                  believed(&effects->alone[second][b], overall.mean, &overall) -
                                  overall.mean,
                              &overall, random);
            if (value >= least)
                continue;
            least = value;
            genome->value[first] = (uint8_t)a;
            if (second >= 0)
                genome->value[second] = (uint8_t)b;
        }
    }
}

bool effects_doomed(const struct effects *effects, const struct genome *genome) {
    int count = effects->space->gene_count;
    for (int a = 0; a < count; a++)
        for (int b = a + 1; b < count; b++) {
            const struct effect *effect = cell(effects, a, genome->value[a], b, genome->value[b]);
            if (effect->count == 0 && effect->failures >= DOOMED_LEAST)
                return true;
        }
    return false;
}
