/*
 * effects: statistics of the archive by gene value and by pair of values: the mean log score of the
 * trials that had them, its uncertainty, and the pairs that always failed. These are marginal means
 * over trials that a search chose, so they guide proposals but prove nothing.
 *
 *     struct effects *effects = effects_new(space);
 *     effects_add(effects, &genome, log_score);      // NAN: the trial failed
 *     effects_sample(effects, first, second, &random, &genome);
 *     bool skip = effects_always_failed(effects, &genome);
 *     effects_free(effects);
 */
#ifndef EVOTILE_STRATEGY_EFFECTS_H
#define EVOTILE_STRATEGY_EFFECTS_H

#include "space/space.h"

struct random;
struct effects;

enum { EFFECT_SINGLE = -1, ALWAYS_FAILED_MIN = 5 };

/* Sums over the trials with one value, or with one pair of values. */
struct effect {
    float count, sum; /* successful trials, and the sum of their log scores */
    float failures;
};

/* `space` must outlive the effects. */
struct effects *effects_new(const struct space *space);
void effects_free(struct effects *effects);

void effects_add(struct effects *effects, const struct genome *genome, double log_score);

/* Thompson sampling: sets gene `first`, or with `second` >= 0 a pair of genes, to the value
   whose draw from its posterior is least. Uncertain values are tried, known bad ones are not. A
   failed trial counts as a bad score; the prior of a pair is the sum of its two values' effects. */
void effects_sample(const struct effects *effects, int first, int second, struct random *random,
                    struct genome *genome);

/* Returns whether the genome has a pair of values that failed at least ALWAYS_FAILED_MIN times
   and never succeeded. */
bool effects_always_failed(const struct effects *effects, const struct genome *genome);

/* ---- For display ---- */

/* Over all successful trials: their number, mean log score and its standard deviation. */
void effects_overall(const struct effects *effects, double *count, double *mean, double *deviation);
/* With `second` EFFECT_SINGLE: the effect of one value. */
const struct effect *effects_find(const struct effects *effects, int first, int first_value,
                                  int second, int second_value);

#endif
