/*
 * insight: what the archive teaches the strategies `insight` and `full`: which change of a parent
 * is fast as far as its effect is known (strategy/effects.h), and which pairs of values always
 * failed.
 *
 *     struct insight *insight = insight_new(space);
 *     insight_update(insight, evolution);
 *     if (insight_breed(insight, evolution, &parent, &random, &child) &&
 *         !insight_rejects(insight, &child))
 *         ...
 *     insight_free(insight);
 *
 * The effects are fitted again when the results have grown by an eighth; what they are depends on
 * the results alone, not on when they were asked for.
 */
#ifndef EVOTILE_STRATEGY_INSIGHT_H
#define EVOTILE_STRATEGY_INSIGHT_H

#include "strategy/strategy.h"

struct insight;

/* `space` must outlive the insight. */
struct insight *insight_new(const struct space *space);
void insight_free(struct insight *insight);

/* Adds the results observed since the last call; starts over if scores were replaced. */
void insight_update(struct insight *insight, const struct evolution *evolution);

/* Makes a child of the parent by one or two genes, drawn at random: of all their values that the
   history does not have that with the least draw from its posterior (Thompson sampling), so that
   uncertain values are tried and known bad ones are not; then repairs it. Before there is a model,
   a value at random. Returns false if there is none, or no repair. */
bool insight_breed(const struct insight *insight, const struct evolution *evolution,
                   const struct genome *parent, struct random *random, struct genome *child);

bool insight_rejects(const struct insight *insight, const struct genome *child);

#endif
