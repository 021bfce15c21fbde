/*
 * task_model: a Gaussian process over the genomes and the tasks of several sources together
 * (strategy/source.h). It predicts the latency of a genome at a task that was never measured, from
 * what the sources measured at theirs. A task is known by its features, such as the logarithms of
 * the dimensions of its case and the figures of its device; the covariance is Matern 5/2 over the
 * genes and the features alike, each with a fitted length scale (a multi-task process: Bonilla,
 * Chai and Williams, "Multi-task Gaussian process prediction", 2007, section 2, with task
 * descriptors).
 *
 *     struct task_model *model = task_model_new(space, sources, tasks, count, &target);
 *     struct suggestion suggestion;
 *     if (task_model_suggest(model, seed, &suggestion))
 *         printf("%g us, from %g to %g\n", suggestion.us, suggestion.low_us, suggestion.high_us);
 *     task_model_free(model);
 *
 * What is modelled is the logarithm of latency over the task's `scale_us`, with the slower half of
 * each source compressed (strategy/output_transform.h).
 */
#ifndef EVOTILE_STRATEGY_TASK_MODEL_H
#define EVOTILE_STRATEGY_TASK_MODEL_H

#include "strategy/source.h"

enum { TASK_FEATURES_MAX = 20, SUGGESTION_NEAREST = 3, SUGGESTION_GENES = 5 };

struct task {
    double features[TASK_FEATURES_MAX]; /* all of them finite; unused ones 0 */
    double scale_us; /* a latency that grows with the task as the measured ones do, such as the
                        least possible one; 1 if none is known */
};

/* A trial that the prediction rests on. */
struct near_trial {
    int source; /* index of the source */
    struct genome genome;
    double us, correlation; /* with the suggestion, from 0 to 1 */
};

/* A gene by which the suggestion is fast: what the best other valid value of it is predicted to
   cost. */
struct deciding_gene {
    int gene, other_value;
    double ratio; /* predicted latency with that value over that of the suggestion; above 1 */
};

struct suggestion {
    struct genome genome;
    double us, low_us, high_us; /* the predicted latency, and an interval of two deviations */
    double shares[SOURCES_MAX]; /* by source: part of the correlation with the rows; of sum 1 */
    int near_count;
    struct near_trial nearest[SUGGESTION_NEAREST]; /* the most correlated first, one a source while
                                                      there are others */
    int gene_count;
    struct deciding_gene genes[SUGGESTION_GENES]; /* the most costly first */
};

struct task_model;

/* `sources`, usable and sealed, at most SOURCES_MAX, with the task of each. `space`, the sources
   and their tasks must outlive the model. */
struct task_model *task_model_new(const struct space *space, const struct source *sources,
                                  const struct task *tasks, int count, const struct task *target);
void task_model_free(struct task_model *model);

/* The valid genome with the least predicted latency at the target, among the best of the sources,
   their neighbours and random ones. Genomes that failed in a source are left out. Returns false if
   no valid genome was found. */
bool task_model_suggest(struct task_model *model, uint64_t seed, struct suggestion *suggestion);

#endif
