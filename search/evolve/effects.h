/*
 * effects: what an archive teaches about the values of genes, alone and in pairs: the mean of the
 * log scores of the trials that had them and how sure it is, and which pairs always failed. They
 * are marginal means over what a search chose to try, so they lead and do not prove.
 *
 *     struct effects *effects = effects_new(space);
 *     effects_learn(effects, &genome, log_score);    // NAN: it failed
 *     effects_draw(effects, first, second, &random, &genome);
 *     if (effects_doomed(effects, &genome)) ...
 *     effects_free(effects);
 */
#ifndef EVOTILE_EVOLVE_EFFECTS_H
#define EVOTILE_EVOLVE_EFFECTS_H

#include "genome/space.h"

struct random;
struct effects;

enum { EFFECT_ALONE = -1, DOOMED_LEAST = 5 };

/* Of the trials with one value, or with a pair. */
struct effect {
    float count, sum; /* of those that were ok, and of their log scores */
    float failures;
};

/* The space outlives it. */
struct effects *effects_new(const struct space *space);
void effects_free(struct effects *effects);

void effects_learn(struct effects *effects, const struct genome *genome, double log_score);

/* Gives the genome the value of a gene, or with `second` >= 0 the values of two, that may be the
   best: the least of one draw for each from what is believed of it (Thompson's way: what is
   uncertain is tried, what is known to be bad is not). A failed trial counts as a bad one; a pair
   is believed to be what its values add up to, until trials say otherwise. */
void effects_draw(const struct effects *effects, int first, int second, struct random *random,
                  struct genome *genome);

/* Whether it has a pair of values that failed DOOMED_LEAST times or more and never passed. */
bool effects_doomed(const struct effects *effects, const struct genome *genome);

/* ---- for those who show them ---- */

/* Over all trials that were ok: how many, their mean log score, and its standard deviation. */
void effects_overall(const struct effects *effects, double *count, double *mean, double *deviation);
/* With `second` EFFECT_ALONE: of one value. */
const struct effect *effects_of(const struct effects *effects, int first, int first_value,
                                int second, int second_value);

#endif
