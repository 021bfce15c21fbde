/*
 * strategy: how the next genome is thought of, as one table; and what a strategy sees of a search.
 * A strategy only proposes. That a proposal is new, and what is done when it finds none that is
 * new, is the evolution's business (evolve/evolution.h), which callers use; this header is for
 * strategies.
 */
#ifndef EVOTILE_EVOLVE_STRATEGY_H
#define EVOTILE_EVOLVE_STRATEGY_H

#include "evolve/evolution.h"
#include "evolve/seen.h"

struct strategy {
    const char *name, *about;
    bool stratified; /* whether the start is spread over the space, after the default and the seeds
                      */
    /* Tries once to think of a genome, seen before or not. False if it could not. */
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

/* A uniform draw; what a strategy does when it has no parents. */
bool strategy_explore(struct evolution *evolution, struct proposal *proposal);

#endif
