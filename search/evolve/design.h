/*
 * design: where to look before anything is known: first the middle of the space, then again and
 * again the genome farthest from all that were seen. Distances are squared, so that the ends of
 * domains come first: times often rise or fall all along a gene, and then its best value is at an
 * end. Of what lies between, only powers of two are taken where that is valid: hardware likes them
 * (evolve/features.h).
 *
 *     struct design *design = design_new(space, seed, stream);
 *     design_note(design, &genome);                       // seen: the next lies far from it
 *     if (design_next(design, &genome)) ...               // far from all that were noted
 *     design_free(design);
 *
 * It chooses among some thousand uniform draws, which follow from the seed. Source: Johnson, Moore
 * and Ylvisaker, "Minimax and maximin distance designs", 1990.
 */
#ifndef EVOTILE_EVOLVE_DESIGN_H
#define EVOTILE_EVOLVE_DESIGN_H

#include "genome/space.h"

struct design;

/* The space outlives it. */
struct design *design_new(const struct space *space, uint64_t seed, uint64_t stream);
void design_free(struct design *design);

void design_note(struct design *design, const struct genome *genome);

/* The same until something is noted; false when every draw was. */
bool design_next(const struct design *design, struct genome *genome);

#endif
