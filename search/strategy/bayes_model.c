#include "strategy/bayes_model.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "strategy/acquisition.h"
#include "strategy/output_transform.h"
#include "strategy/source_trust.h"
#include "strategy/training_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_MILESTONE_SOURCES = 2, /* results before the first model that has sources */
    SOURCE_CANDIDATES = 300,     /* genomes of the sources that are candidates */
    ELITES = 5,
    TRAINING_MAX = 400,  /* rows of the training set when the archive is larger: */
    TRAINING_BEST = 160, /* the best of these, the others sampled at random */
    STEP_MAX = 32,       /* trials between milestones, at most */
};

static const double negligible_share = 0.01; /* of a prediction that is not computed */

static size_t first_milestone(const struct bayes_model *model) {
    return model->sources != NULL ? FIRST_MILESTONE_SOURCES : FIRST_MILESTONE;
}

/* The mean before any result. */
static void reset_mean(struct bayes_model *model) {
    source_mean_prior(&model->mean, source_set_distances(model->sources),
                      source_set_count(model->sources));
}

/* Trust in the sources decides over the mean (condition) and over the priors of the length scales.
 */
static void judge_sources(struct bayes_model *model, const struct evolution *evolution,
                          const struct training_row *training_set, int count) {
    if (model->sources == NULL)
        return;
    model->trust = source_trust(model->sources, model->surrogate, evolution, training_set, count);
    source_set_teach_scales(model->sources, model->surrogate, model->trust);
}

struct bayes_model *bayes_model_new(const struct evolution *evolution) {
    struct bayes_model *model = xcalloc(1, sizeof *model);
    model->surrogate = surrogate_new(evolution->space);
    model->pool = candidate_pool_new(evolution->space);
    model->sources = evolution->sources;
    bayes_model_restart(model, evolution);
    return model;
}

void bayes_model_free(struct bayes_model *model) {
    surrogate_free(model->surrogate);
    candidate_pool_free(model->pool);
    free(model);
}

/* ---- Milestones ---- */

static size_t step_after(size_t milestone) {
    size_t step = milestone / 16;
    return step < 1 ? 1 : step > STEP_MAX ? STEP_MAX : step;
}

/* Fits the mean of the sources to the values of the surrogate's rows and subtracts it from them. */
static void subtract_mean(struct bayes_model *model, const double (*source_values)[SOURCES_MAX],
                          double *values) {
    source_mean_fit(&model->mean, model->surrogate, source_values, values);
    for (int row = 0; row < surrogate_row_count(model->surrogate); row++)
        values[row] -= source_mean_at(&model->mean, source_values[row]);
}

static void fit_hyperparameters(struct bayes_model *model, const struct evolution *evolution,
                                const struct training_row *training_set, int count,
                                struct random *random) {
    struct training_row chosen[TRAINING_MAX];
    struct genome genomes[FIT_MAX];
    double values[FIT_MAX], noises[FIT_MAX];
    double(*source_values)[SOURCES_MAX] = xcalloc(FIT_MAX, sizeof *source_values);
    memcpy(chosen, training_set, (size_t)count * sizeof *chosen);
    count = training_set_sample(chosen, count, FIT_MAX / 2, FIT_MAX, random);
    const struct output_transform transform = training_set_transform(chosen, count);
    for (int i = 0; i < count; i++) {
        genomes[i] = evolution->history.entries[chosen[i].entry].genome;
        values[i] = output_transform_apply(&transform, chosen[i].score_us);
        noises[i] = training_set_noise(evolution, &transform, &chosen[i]);
    }
    if (model->trust > 0.5) {
        surrogate_clear(model->surrogate);
        for (int i = 0; i < count; i++) {
            surrogate_add_row(model->surrogate, &genomes[i], noises[i]);
            source_set_values(model->sources, &genomes[i], source_values[i]);
        }
        subtract_mean(model, source_values, values);
    }
    surrogate_fit(model->surrogate, genomes, values, noises, count);
    free(source_values);
}

static void add_row(struct bayes_model *model, const struct evolution *evolution, uint32_t entry,
                    double noise) {
    int row = surrogate_row_count(model->surrogate);
    const struct genome *genome = &evolution->history.entries[entry].genome;
    if (!surrogate_add_row(model->surrogate, genome, noise))
        return;
    model->row_entries[row] = entry;
    if (model->sources != NULL)
        source_set_values(model->sources, genome, model->row_values[row]);
}

static void add_candidates(struct bayes_model *model) {
    int count = surrogate_candidate_count(model->surrogate);
    for (int i = count; i < candidate_pool_count(model->pool); i++) {
        const struct genome *genome = candidate_pool_genome(model->pool, i);
        model->already_seen[i] = false;
        surrogate_add_candidate(model->surrogate, genome);
        if (model->sources != NULL)
            source_set_values(model->sources, genome, model->candidate_values[i]);
    }
}

/* The parents of the candidate pool: the best measured genomes, then, while there are too few,
   the best predicted ones. */
static int find_elites(const struct bayes_model *model, const struct evolution *evolution,
                       const struct training_row *training_set, int count,
                       struct genome elites[ELITES]) {
    int found = 0;
    for (; found < ELITES && found < count; found++)
        elites[found] = evolution->history.entries[training_set[found].entry].genome;
    if (model->sources != NULL && found < ELITES)
        found += source_set_best(model->sources, &elites[found], ELITES - found);
    return found;
}

/* Adds the rows whose values are known at the milestone. */
static void add_training_set(struct bayes_model *model, const struct evolution *evolution,
                             const struct training_row *training_set, int count) {
    double noises[TRAINING_MAX];
    model->training_count = count;
    model->median_noise = 0;
    if (count == 0)
        return;
    const struct output_transform transform = training_set_transform(training_set, count);
    for (int i = 0; i < count; i++) {
        noises[i] = training_set_noise(evolution, &transform, &training_set[i]);
        add_row(model, evolution, training_set[i].entry, noises[i]);
    }
    model->median_noise = statistics_median(noises, count);
}

static void build_model(struct bayes_model *model, const struct evolution *evolution,
                        const struct training_row *training_set, int count, struct random *random) {
    struct genome elites[ELITES] = {0};
    /* At the last milestones, STEP_MAX apart, all draws are new. */
    const struct uniform_draws draws = {.seed = evolution->seed,
                                        .stream = evolution->stream,
                                        .first = model->milestone * UNIFORM_BLOCKS / STEP_MAX};
    int elite_count = find_elites(model, evolution, training_set, count, elites);
    candidate_pool_refill(model->pool, random, &draws, elites, elite_count);
    if (model->sources != NULL) {
        struct genome *best = xcalloc(SOURCE_CANDIDATES, sizeof *best);
        int best_count = source_set_best(model->sources, best, SOURCE_CANDIDATES);
        for (int i = 0; i < best_count; i++)
            candidate_pool_add(model->pool, &best[i]);
        free(best);
    }
    surrogate_clear(model->surrogate);
    add_training_set(model, evolution, training_set, count);
    add_candidates(model);
    model->has_model = true;
    model->best_us = count > 0 ? training_set[0].score_us : INFINITY;
    model->observed_processed = model->milestone;
    model->history_processed = 0;
    feasibility_begin(&model->feasibility, evolution, model->milestone);
}

/* Builds the model before the first milestone, from the sources alone. */
static void build_model_from_sources(struct bayes_model *model, const struct evolution *evolution) {
    struct random random;
    random_seed(&random, evolution->seed, evolution->stream);
    build_model(model, evolution, NULL, 0, &random);
}

void bayes_model_restart(struct bayes_model *model, const struct evolution *evolution) {
    judge_sources(model, evolution, NULL, 0);
    if (model->sources != NULL)
        reset_mean(model);
    surrogate_reset(model->surrogate);
    model->milestone = 0;
    model->has_model = false;
    model->next_milestone = first_milestone(model);
}

void bayes_model_process_milestones(struct bayes_model *model, const struct evolution *evolution) {
    if (evolution->observed_count < model->next_milestone)
        return;
    struct training_row *training_set = xmalloc(evolution->observed_count * sizeof *training_set);
    while (model->next_milestone <= evolution->observed_count) {
        struct random random;
        size_t milestone_now = model->next_milestone;
        int count = training_set_collect(evolution, milestone_now, training_set);
        random_seed(&random, evolution->seed + milestone_now, evolution->stream);
        model->next_milestone = milestone_now + step_after(milestone_now);
        if (count < 2)
            continue;
        judge_sources(model, evolution, training_set, count);
        count = training_set_sample(training_set, count, TRAINING_BEST, TRAINING_MAX, &random);
        fit_hyperparameters(model, evolution, training_set, count, &random);
        model->milestone = milestone_now;
        if (model->next_milestone > evolution->observed_count)
            build_model(model, evolution, training_set, count, &random);
    }
    free(training_set);
}

/* ---- Between milestones ---- */

/* Returns whether this entry's result was known when the milestone's model was built. */
static bool was_known_at_milestone(const struct bayes_model *model,
                                   const struct history_entry *entry) {
    return entry->observed_at != 0 && entry->observed_at <= model->milestone;
}

static void add_result(struct bayes_model *model, const struct history_entry *entry) {
    feasibility_add(&model->feasibility, model->surrogate, entry);
    if (entry->ok && entry->score_us < model->best_us) {
        model->best_us = entry->score_us;
        candidate_pool_add_neighbours(model->pool, &entry->genome);
    }
}

/* Extends the model by everything asked and observed since the milestone. Each asked genome gets a
   row, with or without a value, because neither the position nor the noise of a row may depend
   on when its value became known. The neighbours of a new best genome join the candidate pool. */
static void extend_model(struct bayes_model *model, const struct evolution *evolution) {
    for (; model->history_processed < evolution->history.count; model->history_processed++)
        if (!was_known_at_milestone(model, &evolution->history.entries[model->history_processed]))
            add_row(model, evolution, (uint32_t)model->history_processed, model->median_noise);
    for (; model->observed_processed < evolution->observed_count; model->observed_processed++)
        add_result(model, evolution_observed(evolution, model->observed_processed));
    add_candidates(model);
    feasibility_extend(&model->feasibility, model->surrogate, evolution, model->row_entries,
                       model->training_count, model->observed_processed);
}

/* Lists the rows with a value, best first, and sets `values` to NAN. Returns their number. */
static int known_rows(const struct bayes_model *model, const struct evolution *evolution,
                      struct training_row known[ROWS_MAX], double values[ROWS_MAX]) {
    int count = 0, rows = surrogate_row_count(model->surrogate);
    for (int row = 0; row < rows; row++) {
        const struct history_entry *entry = &evolution->history.entries[model->row_entries[row]];
        values[row] = NAN;
        if (entry->ok)
            known[count++] = (struct training_row){entry->score_us, (uint32_t)row};
    }
    training_set_sort(known, count);
    return count;
}

/* With fewer than two measured values: takes pending genomes at their mean. Returns the best of
   these. */
static double use_sources_only(struct bayes_model *model) {
    int rows = surrogate_row_count(model->surrogate);
    double best = 0; /* an average genome */
    reset_mean(model);
    for (int row = 0; row < rows; row++)
        best = fmin(best, source_mean_at(&model->mean, model->row_values[row]));
    return best;
}

static void transform_values(struct bayes_model *model, const struct training_row *known, int count,
                             double *values) {
    const struct output_transform transform = training_set_transform(known, count);
    model->deviation = transform.deviation;
    for (int i = 0; i < count; i++)
        values[known[i].entry] = output_transform_apply(&transform, known[i].score_us);
}

/* The incumbent of expected improvement: the least denoised value. With the raw values a lucky
   sample would become a target that cannot be beaten. */
static double least_denoised(const struct bayes_model *model, const struct training_row *known,
                             int count, const double *values, bool with_mean) {
    double best = INFINITY;
    for (int i = 0; i < count; i++) {
        const int row = (int)known[i].entry;
        best =
            fmin(best, surrogate_denoise(model->surrogate, row, values[row]) +
                           (with_mean ? source_mean_at(&model->mean, model->row_values[row]) : 0));
    }
    return best;
}

/* Copies what the surrogate predicts now, the mean of the sources added. */
static void keep_prediction(struct bayes_model *model, int which, double share, double best) {
    struct bayes_prediction *prediction = &model->predictions[which];
    const int count = surrogate_candidate_count(model->surrogate);
    prediction->share = share;
    prediction->best = best;
    memcpy(prediction->means, surrogate_means(model->surrogate), (size_t)count * sizeof(float));
    memcpy(prediction->variances, surrogate_variances(model->surrogate),
           (size_t)count * sizeof(float));
    for (int i = 0; i < count && which == WITH_SOURCES; i++)
        prediction->means[i] += (float)source_mean_at(&model->mean, model->candidate_values[i]);
}

/* Predicts by the process alone and with the sources, as far as each may be right. */
static void predict(struct bayes_model *model, const struct training_row *known, int count,
                    double *values) {
    if (model->trust < 1 - negligible_share) {
        surrogate_condition(model->surrogate, values);
        keep_prediction(model, ALONE, 1 - model->trust,
                        least_denoised(model, known, count, values, false));
    }
    if (model->trust > negligible_share) {
        subtract_mean(model, model->row_values, values);
        surrogate_condition(model->surrogate, values);
        keep_prediction(model, WITH_SOURCES, model->trust,
                        least_denoised(model, known, count, values, true));
    }
}

static void condition(struct bayes_model *model, const struct evolution *evolution) {
    struct training_row *known = xcalloc(ROWS_MAX, sizeof *known);
    double *values = xcalloc(ROWS_MAX, sizeof *values);
    int count = known_rows(model, evolution, known, values);
    if (count < 2 && model->sources == NULL)
        BUG("a model of %d values", count);
    model->predictions[ALONE].share = model->predictions[WITH_SOURCES].share = 0;
    if (count < 2) {
        const double best = use_sources_only(model);
        surrogate_condition(model->surrogate, values);
        keep_prediction(model, WITH_SOURCES, 1, best);
    } else {
        transform_values(model, known, count, values);
        predict(model, known, count, values);
    }
    free(known);
    free(values);
}

void bayes_model_update(struct bayes_model *model, const struct evolution *evolution) {
    if (!model->has_model)
        build_model_from_sources(model, evolution);
    extend_model(model, evolution);
    condition(model, evolution);
}

double bayes_model_gain(const struct bayes_model *model, int candidate, bool explore) {
    double gain = 0;
    for (int i = 0; i < PREDICTIONS; i++) {
        const struct bayes_prediction *prediction = &model->predictions[i];
        const double mean = prediction->means[candidate],
                     variance = prediction->variances[candidate];
        if (prediction->share > 0)
            gain += prediction->share *
                    (explore ? acquisition_confidence_bound(mean, variance)
                             : acquisition_expected_improvement(prediction->best, mean, variance));
    }
    return gain;
}
