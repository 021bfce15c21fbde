/*
 * source_trust: the probability that the sources of a search (strategy/source.h) have anything to
 * say about it.
 *
 *     double trust = source_trust(sources, surrogate, evolution, training_set, count);
 *
 * It follows from the evidence for the sources over the surrogate alone (source_mean_evidence):
 * what the process explains by itself says nothing for them, and many results are needed where they
 * are all alike. With less than two results it is what is believed before any.
 */
#ifndef EVOTILE_STRATEGY_SOURCE_TRUST_H
#define EVOTILE_STRATEGY_SOURCE_TRUST_H

#include "strategy/surrogate.h"
#include "strategy/training_set.h"

/* Returns a probability from 0 to 1. The rows are those of training_set_collect. Uses the
   surrogate's hyperparameters, and removes its rows and candidates. */
double source_trust(struct source_set *sources, struct surrogate *surrogate,
                    const struct evolution *evolution, const struct training_row *rows, int count);

#endif
