/*
 * breed: how one genome comes from others. Each function makes a child that is canonical, valid and
 * different from its parents, or says false; none loops without a bound. What is new to a search,
 * and who the parents are, is decided above (evolve/).
 *
 *     struct genome child;
 *     if (breed_mutate_step(space, random, &parent, &child)) ...
 *     if (breed_cross_uniform(space, random, &mother, &father, &child)) ...
 */
#ifndef EVOTILE_GENOME_BREED_H
#define EVOTILE_GENOME_BREED_H

#include "genome/space.h"

/* Moves one to three active genes to a neighbour in their domain; a gene that is not ordered, to
   any other value. */
bool breed_mutate_step(const struct space *space, struct random *random,
                       const struct genome *parent, struct genome *child);

/* Gives one to three active genes any other value of their domain. */
bool breed_mutate_reset(const struct space *space, struct random *random,
                        const struct genome *parent, struct genome *child);

/* Each gene from either parent, by the toss of a coin. */
bool breed_cross_uniform(const struct space *space, struct random *random,
                         const struct genome *mother, const struct genome *father,
                         struct genome *child);

/* A run of neighbouring genes from the father, the rest from the mother: a template declares genes
   that work together side by side. */
bool breed_cross_block(const struct space *space, struct random *random,
                       const struct genome *mother, const struct genome *father,
                       struct genome *child);

/* Makes a genome, canonical or not, valid by changing few genes: at each of at most 24 steps the
   change of one gene that leaves the fewest failures, among the genes that the failures depend on;
   where that does not suffice, by space_nearest. Returns whether it succeeded; if not, the genome
   is canonical, but not valid. */
bool breed_repair(const struct space *space, struct random *random, struct genome *genome);

#endif
