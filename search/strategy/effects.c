#include "strategy/effects.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/statistics.h"
#include "strategy/output_transform.h"
#include "strategy/surrogate.h"
#include "strategy/training_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE_SEED = 28, FITS = 4 /* each of a few iterations from the last one's result */ };

static const double normal_99 = 2.5758;
static const double best_share = 0.4; /* of chosen trials, if there are more */
/* Parameters that are fitted to few trials fit them too well: the share by which each widens the
   intervals, in trials. Chosen on recorded spaces (docs/measurements/effects.md). */
static const double parameter_trials = 4;

struct effects {
    struct surrogate *surrogate;
    struct output_transform transform;
    int count;
    struct genome genomes[EFFECTS_TRIALS_MAX]; /* of the model, fastest first */
    double slowest;                            /* score */
    double width; /* half of a predicted interval, in deviations of the prediction */
};

struct effects *effects_new(const struct space *space) {
    struct effects *effects = xcalloc(1, sizeof *effects);
    effects->surrogate = surrogate_new(space);
    return effects;
}

void effects_free(struct effects *effects) {
    if (effects == NULL)
        return;
    surrogate_free(effects->surrogate);
    free(effects);
}

/* ---- fitting ---- */

static int choose_trials(struct effect_trial *trials, int count, int best, int most) {
    struct random random;
    if (count == 0) /* then there may be no trials at all */
        return 0;
    struct training_row *rows = xmalloc(((size_t)count + 1) * sizeof *rows);
    struct effect_trial *chosen = xmalloc(((size_t)count + 1) * sizeof *chosen);
    random_seed(&random, SAMPLE_SEED, 0);
    for (int i = 0; i < count; i++)
        rows[i] = (struct training_row){trials[i].score, (uint32_t)i};
    training_set_sort(rows, count);
    count = training_set_sample(rows, count, best, most, &random);
    for (int i = 0; i < count; i++)
        chosen[i] = trials[rows[i].entry];
    memcpy(trials, chosen, (size_t)count * sizeof *chosen);
    free(chosen);
    free(rows);
    return count;
}

int effects_choose(struct effect_trial *trials, int count, int most) {
    return choose_trials(trials, count, (int)(best_share * most), most);
}

/* Chosen trials as the surrogate takes them. */
struct training_values {
    struct output_transform transform;
    struct genome genomes[EFFECTS_TRIALS_MAX];
    double values[EFFECTS_TRIALS_MAX], noises[EFFECTS_TRIALS_MAX];
};

/* The trials are sorted, fastest first. */
static void fill_values(struct training_values *training, const struct effect_trial *trials,
                        int count) {
    for (int i = 0; i < count; i++)
        training->values[i] = trials[i].score;
    training->transform = output_transform_fit(training->values, count);
    for (int i = 0; i < count; i++) {
        training->genomes[i] = trials[i].genome;
        training->values[i] = output_transform_apply(&training->transform, trials[i].score);
        training->noises[i] =
            output_transform_noise(&training->transform, trials[i].score, trials[i].error);
    }
}

static void fit_hyperparameters(struct effects *effects, struct training_values *training,
                                const struct effect_trial *trials, int count) {
    struct effect_trial *chosen = xmalloc((size_t)count * sizeof *chosen);
    memcpy(chosen, trials, (size_t)count * sizeof *chosen);
    count = choose_trials(chosen, count, FIT_MAX / 2, FIT_MAX);
    fill_values(training, chosen, count);
    free(chosen);
    surrogate_reset(effects->surrogate);
    for (int i = 0; i < FITS; i++)
        surrogate_fit(effects->surrogate, training->genomes, training->values, training->noises,
                      count);
}

static void condition_model(struct effects *effects, struct training_values *training,
                            const struct effect_trial *trials, int count) {
    fill_values(training, trials, count);
    for (int i = 0; i < count; i++)
        surrogate_add_row(effects->surrogate, &training->genomes[i], training->noises[i]);
    surrogate_condition(effects->surrogate, training->values);
    effects->transform = training->transform;
    effects->count = count;
    effects->slowest = trials[count - 1].score;
    memcpy(effects->genomes, training->genomes, sizeof effects->genomes);
}

/* How wide a predicted interval must be, by the errors that the model makes on its own trials. */
static double calibrated_width(const struct surrogate *surrogate) {
    double deviates[ROWS_MAX], square = 0;
    const int count = surrogate_row_count(surrogate);
    const int parameters = surrogate_parameter_count(surrogate);
    surrogate_leave_one_out(surrogate, deviates);
    for (int row = 0; row < count; row++) {
        square += deviates[row] * deviates[row] / count;
        deviates[row] = fabs(deviates[row]);
    }
    const double student = statistics_student_99(count - parameters) * fmax(1, sqrt(square));
    return fmax(student, statistics_percentile(deviates, count, 99)) *
           sqrt(1 + parameter_trials * parameters / count);
}

bool effects_fit(struct effects *effects, const struct effect_trial *trials, int count) {
    effects->count = 0;
    if (count > EFFECTS_TRIALS_MAX)
        BUG("effects of %d trials", count);
    if (count < EFFECTS_TRIALS_MIN || !(trials[0].score < trials[count - 1].score))
        return false;
    struct training_values *training = xcalloc(1, sizeof *training);
    fit_hyperparameters(effects, training, trials, count);
    condition_model(effects, training, trials, count);
    effects->width = calibrated_width(effects->surrogate);
    free(training);
    return true;
}

/* ---- effects ---- */

/* Whether a genome agrees with another one in all genes in which that differs from a third. */
static bool agrees(const struct genome *genome, const struct genome *with,
                   const struct genome *from) {
    for (int gene = 0; gene < GENES_MAX; gene++)
        if (with->value[gene] != from->value[gene] && genome->value[gene] != with->value[gene])
            return false;
    return true;
}

/* Changes a genome as `from` changes into `to`. */
static struct genome changed(const struct genome *genome, const struct genome *from,
                             const struct genome *to) {
    struct genome result = *genome;
    for (int gene = 0; gene < GENES_MAX; gene++)
        if (from->value[gene] != to->value[gene])
            result.value[gene] = to->value[gene];
    return result;
}

static void count_evidence(const struct effects *effects, const struct genome *from,
                           const struct genome *to, struct effect *effect) {
    for (int i = 0; i < effects->count; i++) {
        effect->tried += agrees(&effects->genomes[i], to, from);
        if (!agrees(&effects->genomes[i], from, to))
            continue;
        const struct genome other = changed(&effects->genomes[i], from, to);
        for (int j = 0; j < effects->count; j++)
            effect->pairs += genome_equal(&effects->genomes[j], &other);
    }
}

struct effect effects_between(const struct effects *effects, const struct genome *from,
                              const struct genome *to) {
    const struct surrogate_difference difference = surrogate_compare(effects->surrogate, from, to);
    const double half = (difference.measured ? normal_99 : effects->width) * difference.deviation;
    const double middle = difference.from + difference.mean;
    const double score = output_transform_invert(&effects->transform, difference.from);
    struct effect effect = {
        .ratio = output_transform_invert(&effects->transform, middle) / score,
        .low = output_transform_invert(&effects->transform, middle - half) / score,
        .high = output_transform_invert(&effects->transform, middle + half) / score,
        .measured = difference.measured,
    };
    if (!effect.measured && effect.high * score > effects->slowest)
        effect.high = INFINITY;
    count_evidence(effects, from, to, &effect);
    return effect;
}

bool effect_is_certain(const struct effect *effect) {
    return (effect->low > 1 || effect->high < 1) && (effect->measured || effect->pairs > 0);
}

/* An approximately normal draw from four uniforms: mean 0, variance 1; the same on every machine.
 */
static double approximate_normal(struct random *random) {
    double sum = -2;
    for (int i = 0; i < 4; i++)
        sum += random_uniform(random);
    return sum * 1.7320508075688772;
}

double effects_draw(const struct effects *effects, const struct genome *from,
                    const struct genome *to, struct random *random) {
    const struct surrogate_difference difference = surrogate_compare(effects->surrogate, from, to);
    return difference.mean + difference.deviation * approximate_normal(random);
}
