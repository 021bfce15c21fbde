/*
 * population: the best verified genomes so far, in rank order. It knows nothing of how they came
 * about.
 *
 *     struct population population;
 *     population_init(&population, 24);
 *     if (population_offer(&population, &(struct member){trial, genome, score_us})) ...
 *     const struct member *parent = population_pick(&population, &random);
 *     population_release(&population);
 */
#ifndef EVOTILE_EVOLVE_POPULATION_H
#define EVOTILE_EVOLVE_POPULATION_H

#include "base/random.h"
#include "genome/genome.h"

struct member {
    int64_t trial;
    struct genome genome;
    double score_us; /* lower is better */
};

/* members[0] is the champion. Of equal scores the one offered first ranks first. */
struct population {
    int capacity, count;
    struct member *members;
};

void population_init(struct population *population, int capacity);
void population_release(struct population *population);

/* Takes the member in if its genome is new here and there is room, or it is better than the worst,
   which then leaves. Returns its rank from 0, or -1. The score is finite. */
int population_offer(struct population *population, const struct member *member);

/* Takes the member with this genome out; false where there is none. */
bool population_remove(struct population *population, const struct genome *genome);

/* A member, drawn with weights 1/(rank + capacity), rank counted from 1: the first is drawn about
   twice as often as the last. NULL if there is none. */
const struct member *population_pick(const struct population *population, struct random *random);

/* Two different members, drawn the same way. False if there are not two. */
bool population_pick_two(const struct population *population, struct random *random,
                         const struct member *picked[2]);

#endif
