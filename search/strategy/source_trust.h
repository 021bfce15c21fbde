/*
 * source_trust: whether the sources of a search (strategy/source.h) have anything to say about it:
 * the results so far agree with one of them more than chance would.
 *
 *     bool trusted = source_trust(sources, evolution, training_set, count);
 *
 * The test is the correlation r of the results' and a source's values over n results: with
 * unrelated values r sqrt(n) is about a standard normal deviate. The limit rises with the number of
 * sources, because the best of many agrees at random. Few results decide nothing.
 */
#ifndef EVOTILE_STRATEGY_SOURCE_TRUST_H
#define EVOTILE_STRATEGY_SOURCE_TRUST_H

#include "strategy/training_set.h"

/* The rows are those of training_set_collect. */
bool source_trust(struct source_set *sources, const struct evolution *evolution,
                  const struct training_row *rows, int count);

#endif
