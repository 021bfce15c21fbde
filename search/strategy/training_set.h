/*
 * training_set: the successful results of a search as rows for a model, fastest first.
 *
 *     struct training_row *rows = xmalloc(evolution->observed_count * sizeof *rows);
 *     int count = training_set_collect(evolution, evolution->observed_count, rows);
 *     count = training_set_sample(rows, count, 160, 400, &random);
 *     struct output_transform transform = training_set_transform(rows, count);
 */
#ifndef EVOTILE_STRATEGY_TRAINING_SET_H
#define EVOTILE_STRATEGY_TRAINING_SET_H

#include "strategy/output_transform.h"
#include "strategy/strategy.h"

struct training_row {
    double score_us;
    uint32_t entry; /* index in the evolution's history */
};

/* Collects the successful ones of the first `observed` results, fastest first. Returns their
   number; `rows` has room for `observed`. */
int training_set_collect(const struct evolution *evolution, size_t observed,
                         struct training_row *rows);
/* Sorts rows by score, rows of equal score by entry. */
void training_set_sort(struct training_row *rows, int count);
/* Keeps the `best` first rows and a random sample of the others, at most `most` in all, in order
   of score. Returns their number. */
int training_set_sample(struct training_row *rows, int count, int best, int most,
                        struct random *random);
/* Fits the transform of the scores. At least one row, at most ROWS_MAX, fastest first. */
struct output_transform training_set_transform(const struct training_row *rows, int count);
/* The noise variance of a row's transformed score, from its relative standard error. */
double training_set_noise(const struct evolution *evolution,
                          const struct output_transform *transform, const struct training_row *row);

#endif
