/*
 * candidate_pool: the genomes for which a surrogate computes the acquisition function. A small
 * space is in the pool completely; of a large one the pool holds uniform draws plus the neighbours
 * and children of the elites. Private to strategies. The contents depend only on the calls and on
 * `random`.
 *
 *     struct candidate_pool *pool = candidate_pool_new(space);
 *     candidate_pool_refill(pool, &random, elites, 5);    // elites: best first
 *     candidate_pool_add_neighbours(pool, &champion);     // later
 *     for (int i = 0; i < candidate_pool_count(pool); i++)
 *         use(candidate_pool_genome(pool, i));
 *     candidate_pool_free(pool);
 */
#ifndef EVOTILE_EVOLVE_BROOD_H
#define EVOTILE_EVOLVE_BROOD_H

#include "genome/space.h"

struct random;
struct brood;

enum {
    BROOD_MAX = 4096,    /* genomes at most, all distinct */
    BROOD_WHOLE = 3000,  /* a space of at most this many genomes is included completely */
    BROOD_UNIFORM = 2000 /* uniform draws from a larger space */
};

/* `space` must outlive the pool. */
struct brood *brood_new(const struct space *space);
void brood_free(struct brood *brood);

/* Replaces the contents. The elites themselves are not necessarily included. */
void brood_refill(struct brood *brood, struct random *random, const struct genome *elites,
                  int count);

/* Adds all valid genomes that differ from this one in exactly one gene, while there is room. */
void brood_add_neighbours(struct brood *brood, const struct genome *genome);

int brood_count(const struct brood *brood);
const struct genome *brood_genome(const struct brood *brood, int index);

#endif
