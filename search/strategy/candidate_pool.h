/*
 * candidate_pool: the genomes for which a surrogate computes the acquisition function. A small
 * space is in the pool completely; of a large one the pool holds uniform draws plus the neighbours
 * and children of the elites. Private to strategies. The contents depend only on the arguments of
 * the last refill and of what follows it.
 *
 *     struct candidate_pool *pool = candidate_pool_new(space);
 *     const struct uniform_draws draws = {.seed = seed, .first = 12};
 *     candidate_pool_refill(pool, &random, &draws, elites, 5);    // elites: best first
 *     candidate_pool_add_neighbours(pool, &champion);     // later
 *     for (int i = 0; i < candidate_pool_count(pool); i++)
 *         use(candidate_pool_genome(pool, i));
 *     candidate_pool_free(pool);
 */
#ifndef EVOTILE_STRATEGY_CANDIDATE_POOL_H
#define EVOTILE_STRATEGY_CANDIDATE_POOL_H

#include "space/space.h"

struct random;
struct candidate_pool;

enum {
    CANDIDATE_POOL_MAX = 4096,    /* genomes at most, all distinct */
    CANDIDATE_POOL_WHOLE = 3000,  /* a space of at most this many genomes is included completely */
    CANDIDATE_POOL_UNIFORM = 2000 /* uniform draws from a larger space */
};

/* Which uniform draws a refill takes. They come in blocks, each a function of its number. Drawing
   under constraints is slow, so a refill shares the blocks that it has in common with the one
   before. */
enum { UNIFORM_BLOCKS = 8 };
struct uniform_draws {
    uint64_t seed, stream;
    uint64_t first; /* the first of UNIFORM_BLOCKS consecutive blocks */
};

/* `space` must outlive the pool. */
struct candidate_pool *candidate_pool_new(const struct space *space);
void candidate_pool_free(struct candidate_pool *pool);

/* Replaces the contents. The elites themselves are not necessarily included. */
void candidate_pool_refill(struct candidate_pool *pool, struct random *random,
                           const struct uniform_draws *draws, const struct genome *elites,
                           int count);

/* Adds all valid genomes that differ from this one in exactly one gene, while there is room. */
void candidate_pool_add_neighbours(struct candidate_pool *pool, const struct genome *genome);

/* Adds a valid genome, if there is room and it is new. */
void candidate_pool_add(struct candidate_pool *pool, const struct genome *genome);

int candidate_pool_count(const struct candidate_pool *pool);
const struct genome *candidate_pool_genome(const struct candidate_pool *pool, int index);

#endif
