#include "strategy/effects.h"

#include "base/error.h"
#include "base/memory.h"
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
    struct effect single[GENES_MAX][DOMAIN_MAX];
    size_t pair_offsets[GENES_MAX][GENES_MAX]; /* offset of a pair's cells; first < second */
    struct effect *pairs;
};

struct effects *effects_new(const struct space *space) {
    struct effects *effects = xcalloc(1, sizeof *effects);
    size_t cells = 0;
    effects->space = space;
    for (int a = 0; a < space->gene_count; a++)
        for (int b = a + 1; b < space->gene_count; b++) {
            effects->pair_offsets[a][b] = cells;
            cells += (size_t)space->genes[a].count * (size_t)space->genes[b].count;
        }
    effects->pairs = xcalloc(cells + 1, sizeof *effects->pairs);
    return effects;
}

void effects_free(struct effects *effects) {
    if (effects == NULL)
        return;
    free(effects->pairs);
    free(effects);
}

static struct effect *pair_effect(const struct effects *effects, int first, int first_value,
                                  int second, int second_value) {
    return &effects->pairs[effects->pair_offsets[first][second] +
                           (size_t)first_value * (size_t)effects->space->genes[second].count +
                           (size_t)second_value];
}

const struct effect *effects_find(const struct effects *effects, int first, int first_value,
                                  int second, int second_value) {
    if (second == EFFECT_SINGLE)
        return &effects->single[first][first_value];
    return first < second ? pair_effect(effects, first, first_value, second, second_value)
                          : pair_effect(effects, second, second_value, first, first_value);
}

static void add_trial(struct effect *effect, bool ok, double log_score) {
    effect->count += ok;
    effect->sum += ok ? (float)log_score : 0;
    effect->failures += !ok;
}

void effects_add(struct effects *effects, const struct genome *genome, double log_score) {
    bool ok = !isnan(log_score);
    int count = effects->space->gene_count;
    if (ok) {
        effects->count++;
        effects->sum += log_score;
        effects->square += log_score * log_score;
    }
    for (int a = 0; a < count; a++) {
        add_trial(&effects->single[a][genome->value[a]], ok, log_score);
        for (int b = a + 1; b < count; b++)
            add_trial(pair_effect(effects, a, genome->value[a], b, genome->value[b]), ok,
                      log_score);
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
static double approximate_normal(struct random *random) {
    double sum = -2;
    for (int i = 0; i < 4; i++)
        sum += random_uniform(random);
    return sum * 1.7320508075688772;
}

struct overall {
    double mean, deviation, failure_score;
};

/* The posterior mean of the log score, given the prior mean. */
static double posterior_mean(const struct effect *effect, double prior_mean,
                             const struct overall *overall) {
    return (effect->sum + effect->failures * overall->failure_score + prior_count * prior_mean) /
           (effect->count + effect->failures + prior_count);
}

static double draw_posterior(const struct effect *effect, double prior_mean,
                             const struct overall *overall, struct random *random) {
    double count = effect->count + effect->failures + prior_count;
    return posterior_mean(effect, prior_mean, overall) +
           overall->deviation / sqrt(count) * approximate_normal(random);
}

void effects_sample(const struct effects *effects, int first, int second, struct random *random,
                    struct genome *genome) {
    const struct gene *genes = effects->space->genes;
    double count, least_value = INFINITY;
    struct overall overall;
    effects_overall(effects, &count, &overall.mean, &overall.deviation);
    overall.failure_score = overall.mean + failure_deviations * overall.deviation;
    for (int a = 0; a < genes[first].count; a++) {
        const struct effect *single = &effects->single[first][a];
        for (int b = 0; b < (second >= 0 ? genes[second].count : 1); b++) {
            double value;
            if (second < 0)
                value = draw_posterior(single, overall.mean, &overall, random);
            else
                value = draw_posterior(
                    effects_find(effects, first, a, second, b),
                    posterior_mean(single, overall.mean, &overall) +
                        posterior_mean(&effects->single[second][b], overall.mean, &overall) -
                        overall.mean,
                    &overall, random);
            if (value >= least_value)
                continue;
            least_value = value;
            genome->value[first] = (uint8_t)a;
            if (second >= 0)
                genome->value[second] = (uint8_t)b;
        }
    }
}

bool effects_always_failed(const struct effects *effects, const struct genome *genome) {
    int count = effects->space->gene_count;
    for (int a = 0; a < count; a++)
        for (int b = a + 1; b < count; b++) {
            const struct effect *effect =
                pair_effect(effects, a, genome->value[a], b, genome->value[b]);
            if (effect->count == 0 && effect->failures >= ALWAYS_FAILED_MIN)
                return true;
        }
    return false;
}
