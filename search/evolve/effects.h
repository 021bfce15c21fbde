/*
 * effects: what an archive teaches about single genes: for each value the mean and the uncertainty
 * of the log scores of the trials that had it, a failed trial counting as a bad one. They are
 * marginal means over what a search chose to try, so they lead and do not prove.
 *
 *     struct effects effects;
 *     effects_init(&effects);
 *     effects_learn(&effects, &genome, log_score);    // NAN: it failed
 *     int value = effects_draw(&effects, space, gene, &random);
 */
#ifndef EVOTILE_EVOLVE_EFFECTS_H
#define EVOTILE_EVOLVE_EFFECTS_H

#include "genome/space.h"

struct random;

struct effect {
    double count, sum; /* of those that were ok */
    double failures;
};

struct effects {
    double count, sum, square; /* over all that were ok */
    struct effect values[GENES_MAX][DOMAIN_MAX];
};

void effects_init(struct effects *effects);
void effects_learn(struct effects *effects, const struct genome *genome, int gene_count,
                   double log_score);

/* A value of the gene that may be its best one: the least of one draw for each from what is
   believed of it (Thompson's way: what is uncertain is tried, what is known to be bad is not). */
int effects_draw(const struct effects *effects, const struct space *space, int gene,
                 struct random *random);

#endif
