/*
 * source_model: the value that a source (strategy/source.h) gives to any genome of the search's
 * space. A genome that the source has tried gets the mean of its rows; another one what a Gaussian
 * process over the rows predicts. Genes that the source lacks change nothing.
 *
 *     struct source_model *model = source_model_new(space, &source);
 *     double value = source_model_value(model, &genome);
 *     source_model_free(model);
 *
 * Values are logarithms of latencies, with the slower half compressed because slow genomes need not
 * be distinguished, standardised over the source's rows (strategy/output_transform.h). A genome
 * that failed is as slow as the slowest.
 */
#ifndef EVOTILE_STRATEGY_SOURCE_MODEL_H
#define EVOTILE_STRATEGY_SOURCE_MODEL_H

#include "strategy/source.h"
#include "strategy/surrogate.h"

struct source_model;

/* The source must be usable and sealed; it is not kept. `space` must outlive the model. */
struct source_model *source_model_new(const struct space *space, const struct source *source);
void source_model_free(struct source_model *model);

/* Not thread-safe: values are remembered. */
double source_model_value(struct source_model *model, const struct genome *genome);

/* Whether the source has tried the genome. */
bool source_model_has(const struct source_model *model, const struct genome *genome);

/* The process, for its length scales. */
const struct surrogate *source_model_surrogate(const struct source_model *model);

#endif
