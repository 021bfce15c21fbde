/*
 * source_trust: whether the sources of a search (strategy/source.h) have anything to say about it.
 *
 *     bool trusted = source_trust(sources, surrogate, evolution, training_set, count, true);
 *
 * The test is the evidence for the sources over the surrogate alone (source_mean_evidence): what
 * the process explains by itself says nothing for them, and many results are needed where they are
 * all alike. A search begins with trust, because its first results are the sources' best genomes;
 * it ends as soon as the evidence turns against them, and comes back only by clear evidence. Few
 * results decide nothing.
 */
#ifndef EVOTILE_STRATEGY_SOURCE_TRUST_H
#define EVOTILE_STRATEGY_SOURCE_TRUST_H

#include "strategy/surrogate.h"
#include "strategy/training_set.h"

/* The rows are those of training_set_collect; `trusted`: what it returned last, true at first. Uses
   the surrogate's hyperparameters, and removes its rows and candidates. */
bool source_trust(struct source_set *sources, struct surrogate *surrogate,
                  const struct evolution *evolution, const struct training_row *rows, int count,
                  bool trusted);

#endif
