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
    MINIMISED_OPERATIONS,   /* the time of an operation, by a template's "objective" */
    MINIMISED_BYTES,        /* the time of a byte */
    MINIMISED_COUNT
};

/* "latency", "energy", "energy_delay", "pareto"; "us / operations", "us / bytes". */
const char *minimised_name(enum minimised minimised);
/* Returns false if there is no such name. */
bool minimised_parse(const char *name, enum minimised *minimised);
/* "us", "mJ", "mJ us", "us/Gop", "us/GB"; and of predictions: "predicted us". */
const char *minimised_unit(enum minimised minimised);
const char *minimised_predicted_unit(enum minimised minimised);
/* What a search makes as large as it can, as a template calls it: "operations / us"; "us" of what
   is made small. */
const char *minimised_objective(enum minimised minimised);

/* Whether scores are of energies, which not every device counts. */
bool minimised_needs_energy(enum minimised minimised);
/* Whether calls of genomes differ in how much they compute, so that a latency is divided by it. */
bool minimised_counts_work(enum minimised minimised);
/* The score of a call in microseconds that does so many operations or moves so many bytes. `work`
   is read only where work is counted. */
double minimised_call_score(enum minimised minimised, double us, double work);
/* Operations or bytes a microsecond, the geometric mean over the cases. */
double minimised_rate(const struct outcome *outcome, enum minimised minimised);
/* The work of a call, from a measured rate; 1 where none is counted. */
double minimised_case_work(enum minimised minimised, const struct case_outcome *one);

/* Of a column of scores: "score\nmJ". */
const char *minimised_heading(enum minimised minimised);

/* The geometric mean of the quantity over the cases, from warm medians and measured energies. NaN
   if a figure is missing. */
double minimised_score(const struct outcome *outcome, enum minimised minimised);
/* The relative standard error of the outcome's score, as outcome_score_error. */
double minimised_score_error(const struct outcome *outcome, enum minimised minimised);
/* The same, as another trial of the genome would differ: with what another placement of memory and
   another process change, which the samples of a trial do not show. 0 for a prediction. */
double minimised_repeat_error(const struct outcome *outcome, enum minimised minimised);

#endif
