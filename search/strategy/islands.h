/*
 * archipelago: the populations of one search, an island each, that breed among themselves, so that
 * what wins on one does not at once crowd out what the others are working at. Now and then the best
 * of each goes to the next on a ring, where it takes the place of the worst. It knows nothing of
 * when that is due, nor of how members came about. One island is a population as any other.
 *
 *     struct archipelago archipelago;
 *     archipelago_init(&archipelago, 4, 24);
 *     int rank = archipelago_offer(&archipelago, 2, &(struct member){trial, genome, score_us});
 *     archipelago_migrate(&archipelago);
 *     const struct member *champion = archipelago_champion(&archipelago);
 *     archipelago_release(&archipelago);
 *
 * Source: Whitley, Rana and Heckendorn, "The island model genetic algorithm: on separability,
 * population size and convergence", 1998: a ring, the best replaces the worst, and the islands
 * share the size that one population would have. What it is worth: strategy/README.md.
 */
#ifndef EVOTILE_STRATEGY_ISLANDS_H
#define EVOTILE_STRATEGY_ISLANDS_H

#include "strategy/population.h"

enum {
    ISLANDS_MAX = 64,
    ISLAND_LEAST = 4, /* members that each of several islands has room for */
};

struct archipelago {
    int count;
    int best; /* the island that the champion is from */
    struct population islands[ISLANDS_MAX];
};

/* `members` are the room of all islands together; each has as much of it, and ISLAND_LEAST at the
   least. A single island has all. */
void archipelago_init(struct archipelago *archipelago, int count, int members);
void archipelago_release(struct archipelago *archipelago);

/* As population_offer, to this island. */
int archipelago_offer(struct archipelago *archipelago, int island, const struct member *member);

/* A member's score holds no more: it leaves the islands that it is on, and with `again`, the same
   genome, takes its new place on each, and on `island`. NULL: it has failed. */
void archipelago_renew(struct archipelago *archipelago, int island, const struct genome *genome,
                       const struct member *again);

/* A copy of the best of each island goes to the next, all at once. */
void archipelago_migrate(struct archipelago *archipelago);

/* The best of all; an equal does not depose it. NULL: there is none. */
const struct member *archipelago_champion(const struct archipelago *archipelago);

#endif
