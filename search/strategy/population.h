/*
 * population: the best verified genomes so far, in rank order. It does not know how they were made.
 *
 *     struct population population;
 *     population_init(&population, 24);
 *     int rank = population_offer(&population, &(struct member){trial, genome, score_us});
 *     const struct member *parent = population_pick(&population, &random);
 *     population_release(&population);
 */
#ifndef EVOTILE_STRATEGY_POPULATION_H
#define EVOTILE_STRATEGY_POPULATION_H

#include "base/random.h"
#include "space/genome.h"

struct member {
    int64_t trial;
    struct genome genome;
    double score_us; /* lower is better */
};

/* members[0] is the champion. Among equal scores the one offered first ranks first. */
struct population {
    int capacity, count;
    struct member *members;
};

void population_init(struct population *population, int capacity);
void population_release(struct population *population);

/* Inserts the member if its genome is not in the population and there is room or it is better
   than the worst member, which is then dropped. Returns its rank from 0, or -1. The score must
   be finite. */
int population_offer(struct population *population, const struct member *member);

/* Removes the member with this genome. Returns false if there is none. */
bool population_remove(struct population *population, const struct genome *genome);

/* Draws a member with weight 1/(rank + capacity), rank counted from 1: the first is about twice
   as likely as the last. NULL if the population is empty. */
const struct member *population_pick(const struct population *population, struct random *random);

/* Draws two different members in the same way. Returns false if there are fewer than two. */
bool population_pick_two(const struct population *population, struct random *random,
                         const struct member *picked[2]);

#endif
