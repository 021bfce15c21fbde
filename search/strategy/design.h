/*
 * design: the initial design of a search, a greedy maximin (space-filling) design. The first point
 * is the medoid of the space; each next point is the genome farthest from all points so far.
 * Distances are squared, so that the ends of domains come first: latency is often monotonic in a
 * gene, and then its best value is at an end. Interior values of ordered genes are rounded to
 * powers of two where the result is valid, because hardware favours them (strategy/features.h).
 *
 *     struct design *design = design_new(space, seed, stream);
 *     design_add(design, &genome);                 // the next point lies far from it
 *     bool found = design_next(design, &genome);   // far from all points added
 *     design_free(design);
 *
 * The points are chosen among some thousand uniform draws, which follow from the seed. Source:
 * Johnson, Moore and Ylvisaker, "Minimax and maximin distance designs", 1990.
 */
#ifndef EVOTILE_STRATEGY_DESIGN_H
#define EVOTILE_STRATEGY_DESIGN_H

#include "space/space.h"

struct design;

/* `space` must outlive the design. */
struct design *design_new(const struct space *space, uint64_t seed, uint64_t stream);
void design_free(struct design *design);

void design_add(struct design *design, const struct genome *genome);

/* Gives the farthest draw: the same one until another genome is added. Returns false when every
   draw was added. */
bool design_next(const struct design *design, struct genome *genome);

#endif
