/*
 * feasibility: how likely candidates are not to fail, from the trials that are close to them: the
 * share of these that succeeded, each weighted by the fourth power of its correlation, and half a
 * trial that succeeded. Private to bayes_model.c. Sums are added in a fixed order, so that they
 * follow from the order of asks and results alone.
 *
 *     feasibility_begin(&feasibility, evolution, milestone);
 *     feasibility_add(&feasibility, surrogate, entry);            // a result
 *     feasibility_extend(&feasibility, surrogate, evolution, rows, row_count, observed);
 *     double likelihood = feasibility_share(&feasibility, candidate);
 */
#ifndef EVOTILE_STRATEGY_FEASIBILITY_H
#define EVOTILE_STRATEGY_FEASIBILITY_H

#include "strategy/strategy.h"
#include "strategy/surrogate.h"

struct feasibility {
    bool has_failures;
    size_t milestone; /* results known when the surrogate's rows were chosen */
    int count;        /* candidates whose sums are up to date */
    float weights[CANDIDATES_MAX], ok_weights[CANDIDATES_MAX];
};

/* Forgets all candidates. The first `milestone` results of the search are known. */
void feasibility_begin(struct feasibility *feasibility, const struct evolution *evolution,
                       size_t milestone);
/* Adds a later result to the sums. */
void feasibility_add(struct feasibility *feasibility, struct surrogate *surrogate,
                     const struct history_entry *entry);
/* Computes the sums of the surrogate's new candidates: from `rows` (indices in the history), the
   successful results among the known ones that the surrogate has, from the last failures among
   these, and from the results up to `observed`. Nothing happens before the first failure. */
void feasibility_extend(struct feasibility *feasibility, struct surrogate *surrogate,
                        const struct evolution *evolution, const uint32_t *rows, int row_count,
                        size_t observed);
/* From 0 to 1; 1 before the first failure. */
double feasibility_share(const struct feasibility *feasibility, int candidate);

#endif
