/*
 * breed: variation operators and repair. Each function makes a child that is canonical, valid and
 * different from its parents, or returns false after a bounded number of attempts. Whether the
 * child is new to the search, and which parents are used, is decided by the caller (strategy/).
 *
 *     struct genome child;
 *     bool found = breed_mutate_step(space, random, &parent, NULL, &child);
 *     found = breed_cross_uniform(space, random, &mother, &father, &child);
 */
#ifndef EVOTILE_SPACE_BREED_H
#define EVOTILE_SPACE_BREED_H

#include "space/space.h"

/* All operators have one signature; mutations do not use the father. */

/* Moves one to three active genes to a neighbouring value in the domain; a gene that is not
   ordered to any other value. */
bool breed_mutate_step(const struct space *space, struct random *random,
                       const struct genome *mother, const struct genome *father,
                       struct genome *child);

/* Sets one to three active genes to any other value of the domain. */
bool breed_mutate_reset(const struct space *space, struct random *random,
                        const struct genome *mother, const struct genome *father,
                        struct genome *child);

/* Uniform crossover: each gene from either parent with equal probability. */
bool breed_cross_uniform(const struct space *space, struct random *random,
                         const struct genome *mother, const struct genome *father,
                         struct genome *child);

/* Two-point crossover: a run of neighbouring genes from the father, the rest from the mother.
   Templates declare genes that interact side by side. */
bool breed_cross_block(const struct space *space, struct random *random,
                       const struct genome *mother, const struct genome *father,
                       struct genome *child);

/* Repairs a genome, canonical or not, by changing few genes: in each of at most 24 steps it
   changes the one gene that leaves the fewest failures, among the genes that the failures depend
   on; if that does not suffice, it calls space_nearest. Returns whether the genome is now valid;
   if not, it is canonical only. */
bool breed_repair(const struct space *space, struct random *random, struct genome *genome);

#endif
