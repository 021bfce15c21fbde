/*
 * foretold: those measured trials of a goal of which a model that had not seen them foretold the
 * latency (cmd/predictions.h), for a report to set the one against the other.
 *
 *     struct foretold *foretold = foretold_new(run, goal);        // NULL: nothing was foretold
 *     const struct sight *one = &run->sights[foretold->sights[0]];
 *     ... one->foretold_us, one->score_us, foretold->agreement.rank_correlation ...
 *     foretold_free(foretold);
 *
 * Trials of another driver or toolkit are left out, and such as are themselves predictions.
 */
#ifndef EVOTILE_REPORT_FORETOLD_H
#define EVOTILE_REPORT_FORETOLD_H

#include "cmd/predictions.h"
#include "report/gather.h"

struct foretold {
    int count;
    int *sights; /* indices, in the order told */
    struct agreement agreement;
};

struct foretold *foretold_new(const struct gathered *run, int goal);
void foretold_free(struct foretold *foretold);

#endif
