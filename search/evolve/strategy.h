/*
 * strategy: how the next genome is thought of, as one table; and what a strategy sees of a search.
 * A strategy only proposes: what is done when it finds nothing new, and what becomes of a proposal,
 * is the business of evolution.h, which callers use. This header is for strategies.
 */
#ifndef EVOTILE_EVOLVE_STRATEGY_H
#define EVOTILE_EVOLVE_STRATEGY_H

#include "evolve/evolution.h"
#include "evolve/seen.h"

struct strategy {
    const char *name, *about;
    bool stratified; /* the start is spread over the space, once the default and seeds are in */
    /* Thinks of a valid genome not seen before; false if it found none within its patience. */
    bool (*propose)(struct evolution *evolution, struct proposal *proposal);
};

/* Ended by a row without a name. */
extern const struct strategy strategies[];

/* The strategy of that name, or NULL. */
const struct strategy *strategy_find(const char *name);

struct evolution {
    const struct space *space;
    const struct strategy *strategy;
    struct random random;
    double exploration;
    struct population population;
    struct seen seen;
    uint64_t told_count;
    struct operator_counters counters[OPERATOR_COUNT];
    struct proposal *starts; /* proposed first, in this order */
    int start_count, start_at;
    struct space_cursor *rest; /* NULL until proposals run dry */
};

/* A uniform draw of what was not seen; what a strategy does when it has no parents. False if a
   number of draws gave nothing new. */
bool strategy_explore(struct evolution *evolution, struct proposal *proposal);

#endif
