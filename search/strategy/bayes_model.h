/*
 * bayes_model: the model of the strategy `auto`: the Gaussian process of a search's results, the
 * mean that other tasks give it, and the candidates whose posterior it predicts.
 *
 * At a milestone, counted in received results, the hyperparameters are fitted, the candidate pool
 * is refilled and the model is rebuilt. Until the next milestone rows are only appended, which is
 * cheap. All of it is a function of the order of asks and tells, independent of when it is
 * computed, so that a resumed run computes only what it needs.
 *
 *     struct bayes_model *model = bayes_model_new(evolution);
 *     bayes_model_process_milestones(model, evolution);
 *     bayes_model_update(model, evolution); // results or sources are there
 *     for (int i = 0; i < surrogate_candidate_count(model->surrogate); i++)
 *         gain = bayes_model_gain(model, i, false);
 *     bayes_model_free(model);
 */
#ifndef EVOTILE_STRATEGY_BAYES_MODEL_H
#define EVOTILE_STRATEGY_BAYES_MODEL_H

#include "strategy/candidate_pool.h"
#include "strategy/feasibility.h"
#include "strategy/source_mean.h"
#include "strategy/strategy.h"
#include "strategy/surrogate.h"

enum { FIRST_MILESTONE = 4 /* results before the first model, without sources */ };

/* By the process alone, and with the sources' mean. */
enum { ALONE, WITH_SOURCES, PREDICTIONS };

struct bayes_prediction {
    double share; /* the probability that it is the right one; 0: not computed */
    double best;  /* the incumbent of the expected improvement, in the units of the means */
    float means[CANDIDATES_MAX], variances[CANDIDATES_MAX];
};

struct bayes_model {
    struct surrogate *surrogate;
    struct candidate_pool *pool;
    struct source_set *sources; /* borrowed from the evolution; NULL without sources */
    struct source_mean mean;    /* of the sources; zeros without */
    double trust;               /* in the sources, as of the milestone (source_trust.h) */
    struct bayes_prediction predictions[PREDICTIONS];

    size_t milestone, next_milestone; /* results of the last one, 0 before any; of the next one */
    bool has_model;                   /* the model is valid for the current milestone */
    int training_count;  /* rows with a value at the milestone; pending and later rows follow */
    double median_noise; /* median noise variance of those rows, assumed for later ones */
    uint32_t row_entries[ROWS_MAX]; /* by row of the model: the index in the evolution's history */
    double row_values[ROWS_MAX][SOURCES_MAX],
        candidate_values[CANDIDATES_MAX][SOURCES_MAX]; /* of the sources */
    size_t history_processed, observed_processed;      /* entries already added to the model */
    double best_us;
    double deviation; /* of the transform: log microseconds that a value of 1 is */
    struct feasibility feasibility;
    bool already_seen[CANDIDATES_MAX]; /* found in the history, so not proposed again */
};

struct bayes_model *bayes_model_new(const struct evolution *evolution);
void bayes_model_free(struct bayes_model *model);

/* Begins again, because scores were replaced. */
void bayes_model_restart(struct bayes_model *model, const struct evolution *evolution);

/* Processes every milestone up to now, because each fit starts from the hyperparameters of the
   previous one. The model is built only for the last milestone. */
void bayes_model_process_milestones(struct bayes_model *model, const struct evolution *evolution);

/* Adds all that was asked and received since, and predicts the candidates. Needs two results, or
   sources. */
void bayes_model_update(struct bayes_model *model, const struct evolution *evolution);

/* What is expected of a candidate: the expected improvement or, to explore, the lower confidence
   bound (acquisition.h), each the mean over both predictions by their probabilities. So as long as
   the sources are in doubt, trials are made that only one of the two would make, and these decide.
 */
double bayes_model_gain(const struct bayes_model *model, int candidate, bool explore);

#endif
