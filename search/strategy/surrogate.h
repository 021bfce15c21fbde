/*
 * surrogate: a Gaussian process over genomes. It predicts a value (a latency that the caller has
 * transformed and standardised) with a variance. The covariance function is Matern 5/2 with one
 * length scale per feature (strategy/features.h). The noise of a value has two parts: a fitted
 * variance common to all values, for what the features cannot explain, and a known variance of the
 * value itself, so that uncertain values influence predictions little. Choosing the training set
 * and the next trial is left to the caller.
 *
 *     struct surrogate *surrogate = surrogate_new(space);
 *     surrogate_fit(surrogate, genomes, values, noises, count); // length scales and noise
 *     surrogate_clear(surrogate);
 *     surrogate_add_row(surrogate, &genome, noise);        // training set, pending trials
 *     surrogate_add_candidate(surrogate, &genome);         // where to predict
 *     surrogate_condition(surrogate, values);
 *     const float *means = surrogate_means(surrogate), *variances = surrogate_variances(surrogate);
 *     surrogate_free(surrogate);
 *
 * A row may have no value (NAN), for a pending trial: it is taken at the mean that the rows before
 * it predict (kriging believer). That changes no predicted mean but reduces the variance nearby,
 * which keeps concurrent proposals apart; setting its value later costs nothing.
 *
 * Rows and candidates may be added in any order. With n rows and c candidates, adding a row costs
 * O(n * c) and adding a candidate O(n * n). Predictions depend on the calls alone.
 *
 * Sources: Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, sections 2, 4
 * and 5; Ginsbourger et al., "Kriging is well-suited to parallelize optimization", 2010, for the
 * kriging believer.
 */
#ifndef EVOTILE_STRATEGY_SURROGATE_H
#define EVOTILE_STRATEGY_SURROGATE_H

#include "space/space.h"

struct surrogate;

enum { ROWS_MAX = 512, CANDIDATES_MAX = 4096, FIT_MAX = 160 };

/* `space` must outlive the surrogate. */
struct surrogate *surrogate_new(const struct space *space);
void surrogate_free(struct surrogate *surrogate);

/* Removes rows and candidates and resets the hyperparameters to those of a new surrogate. */
void surrogate_reset(struct surrogate *surrogate);

/* Fits the hyperparameters by maximum likelihood with weak priors, starting from the present
   ones. At most FIT_MAX values. Removes rows and candidates. `noises`: the known noise variance
   of each value. */
void surrogate_fit(struct surrogate *surrogate, const struct genome *genomes, const double *values,
                   const double *noises, int count);

/* Moves the centres of the priors of the length scales from those of a new surrogate towards the
   means of those that other surrogates of the same genes were fitted to: `share` of the way, from 0
   to 1. The next reset or fit uses them. */
void surrogate_learn_scales(struct surrogate *surrogate, const struct surrogate *const *others,
                            int count, double share);

/* Removes rows and candidates. */
void surrogate_clear(struct surrogate *surrogate);

/* Indices count from 0. Returns false, without effect, if there is no room. */
bool surrogate_add_row(struct surrogate *surrogate, const struct genome *genome, double noise);
bool surrogate_add_candidate(struct surrogate *surrogate, const struct genome *genome);

/* Conditions the process on the rows' values, NAN for rows without one, and computes the
   posterior at the candidates. Values must have a mean of about 0. */
void surrogate_condition(struct surrogate *surrogate, const double *values);

/* Multiplies values of the rows by the inverse of the Cholesky factor of their covariance: in
   `whitened` they are independent, with one variance. Rows whose value is NAN get 0. */
void surrogate_whiten(const struct surrogate *surrogate, const double *values, double *whitened);

int surrogate_row_count(const struct surrogate *surrogate);
/* Of the hyperparameters: a length scale for each feature, and the noise. */
int surrogate_parameter_count(const struct surrogate *surrogate);
int surrogate_candidate_count(const struct surrogate *surrogate);
const struct genome *surrogate_candidate(const struct surrogate *surrogate, int index);

/* The posterior by candidate; valid until the next call that changes the surrogate. Candidates
   added after the last surrogate_condition have none. The variance is that of a future
   measurement, fitted noise included. */
const float *surrogate_means(const struct surrogate *surrogate);
const float *surrogate_variances(const struct surrogate *surrogate);

/* The posterior mean of a row without its own known noise, as of the last surrogate_condition,
   which must have had this value; equal to `value` if the row has no noise of its own. */
double surrogate_denoise(const struct surrogate *surrogate, int row, double value);

/* The posterior mean of any genome, as of the last surrogate_condition. Slower per genome than
   candidates in bulk; for single genomes whose variance is not needed. */
double surrogate_predict(const struct surrogate *surrogate, const struct genome *genome);

/* What the process says of the values of two genomes, as of the last surrogate_condition. Here the
   fitted noise belongs to a genome, as a roughness that no feature explains, so that two genomes
   with rows differ as they were measured, up to those rows' known noise. */
struct surrogate_difference {
    double from;            /* the posterior mean of the first genome's value */
    double mean, deviation; /* of the second genome's value minus the first's */
    bool measured;          /* both genomes are rows */
};
struct surrogate_difference surrogate_compare(const struct surrogate *surrogate,
                                              const struct genome *from, const struct genome *to);

/* For each row, all with values: how far its value is from what the other rows predict, in
   deviations of that prediction; standard normal if the model is right. Source: Rasmussen and
   Williams, section 5.4.2. */
void surrogate_leave_one_out(const struct surrogate *surrogate, double *deviates);

/* The prior correlations, from 0 to 1, of a genome with each candidate from `first` on. */
void surrogate_correlations(struct surrogate *surrogate, const struct genome *genome, int first,
                            float *correlations);

#endif
