/*
 * minimised: the quantity that a search minimises, and a trial's score by it. Scores stand in
 * fields whose names end in _us, because a run's score is its latency unless its config says more:
 * minimised_unit is the score's unit.
 *
 *     enum minimised minimised;
 *     if (minimised_parse("energy_delay", &minimised))
 *         outcome.score_us = minimised_score(&outcome, minimised); // geometric mean of mJ x us
 */
#ifndef EVOTILE_OUTCOME_MINIMISED_H
#define EVOTILE_OUTCOME_MINIMISED_H

#include "outcome/outcome.h"

enum minimised {
    MINIMISED_LATENCY,
    MINIMISED_ENERGY,
    MINIMISED_ENERGY_DELAY, /* their product */
    MINIMISED_PARETO,       /* the same; results are shown as a front of both */
    MINIMISED_COUNT
};

/* "latency", "energy", "energy_delay", "pareto". */
const char *minimised_name(enum minimised minimised);
/* Returns false if there is no such name. */
bool minimised_parse(const char *name, enum minimised *minimised);
/* "us", "mJ", "mJ us". */
const char *minimised_unit(enum minimised minimised);

/* Of a column of scores: "score\nmJ". */
const char *minimised_heading(enum minimised minimised);

/* The geometric mean of the quantity over the cases, from warm medians and measured energies. NaN
   if a figure is missing. */
double minimised_score(const struct outcome *outcome, enum minimised minimised);
/* The relative standard error of the outcome's score, as outcome_score_error. */
double minimised_score_error(const struct outcome *outcome, enum minimised minimised);

#endif
