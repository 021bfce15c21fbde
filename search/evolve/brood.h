/*
 * brood: the genomes that a model is asked about: the whole of a small space, or of a large one
 * uniform draws, and near what is good already its neighbours and its children. Private to
 * strategies. What is in it depends on the calls and on `random` alone.
 *
 *     struct brood *brood = brood_new(space);
 *     brood_refill(brood, &random, elites, 5);        // elites: best first
 *     brood_add_neighbours(brood, &champion);         // later
 *     for (int i = 0; i < brood_count(brood); i++) use(brood_genome(brood, i));
 *     brood_free(brood);
 */
#ifndef EVOTILE_EVOLVE_BROOD_H
#define EVOTILE_EVOLVE_BROOD_H

#include "genome/space.h"

struct random;
struct brood;

enum {
    BROOD_MAX = 4096,    /* genomes at most, no two equal */
    BROOD_WHOLE = 3000,  /* a space of no more is in it whole */
    BROOD_UNIFORM = 2000 /* uniform draws from a larger one */
};

/* The space outlives it. */
struct brood *brood_new(const struct space *space);
void brood_free(struct brood *brood);

/* Fills it anew. The elites themselves need not be in it. */
void brood_refill(struct brood *brood, struct random *random, const struct genome *elites,
                  int count);

/* Adds all valid genomes that differ from this one in one gene, while there is room. */
void brood_add_neighbours(struct brood *brood, const struct genome *genome);

int brood_count(const struct brood *brood);
const struct genome *brood_genome(const struct brood *brood, int index);

#endif
