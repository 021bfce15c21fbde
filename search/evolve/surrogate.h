/*
 * surrogate: a Gaussian process over genomes, which guesses a number (a latency, transformed and
 * standardised by the caller) and says how sure it is. Kernel: Matern 5/2 with one length scale a
 * feature (evolve/features.h) and noise: one that is fitted, which is what the scales cannot
 * explain, and beside it that of each value itself, a variance that the caller knows. So values
 * that are hardly known move the guesses little. It does not choose what to learn from, nor what to
 * try.
 *
 *     struct surrogate *surrogate = surrogate_new(space);
 *     surrogate_fit(surrogate, genomes, values, noises, count);   // scales, by likelihood
 *     surrogate_clear(surrogate);
 *     surrogate_add_row(surrogate, &genome, noise); ...           // where something is known
 *     surrogate_add_candidate(surrogate, &genome); ...            // where it is to be guessed
 *     surrogate_condition(surrogate, values);
 *     const float *means = surrogate_means(surrogate), *variances = surrogate_variances(surrogate);
 *     surrogate_free(surrogate);
 *
 * A row may be without a value (NAN): it is then believed to be what the rows before it predict.
 * That changes no guess, but the model is surer near it, which keeps what is asked for in one
 * breath apart; and it costs nothing to give it its value later.
 *
 * Rows and candidates may come in any order; adding one costs its part of the whole, of n rows and
 * c candidates n * c for a row and n * n for a candidate. Guesses depend on the calls alone.
 *
 * Sources: Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, chapters 2, 4
 * and 5; Ginsbourger et al., "Kriging is well-suited to parallelize optimization", 2010, for the
 * believer.
 */
#ifndef EVOTILE_EVOLVE_SURROGATE_H
#define EVOTILE_EVOLVE_SURROGATE_H

#include "genome/space.h"

struct surrogate;

enum { ROWS_MAX = 512, CANDIDATES_MAX = 4096, FIT_MAX = 160 };

/* The space outlives it. */
struct surrogate *surrogate_new(const struct space *space);
void surrogate_free(struct surrogate *surrogate);

/* Back to the scales of a new one, without rows and candidates. */
void surrogate_reset(struct surrogate *surrogate);

/* Finds the scales under which these values are likeliest, beginning from those it has, with weak
   priors. At most FIT_MAX of them. Rows and candidates are forgotten. `noises`: the variance of
   each value's own noise. */
void surrogate_fit(struct surrogate *surrogate, const struct genome *genomes, const double *values,
                   const double *noises, int count);

/* Forgets rows and candidates. */
void surrogate_clear(struct surrogate *surrogate);

/* Their indices count from 0; false, and nothing done, where there is no room. */
bool surrogate_add_row(struct surrogate *surrogate, const struct genome *genome, double noise);
bool surrogate_add_candidate(struct surrogate *surrogate, const struct genome *genome);

/* Takes the values of the rows, NAN for those without, and computes the guesses. Values have a mean
   of about 0. */
void surrogate_condition(struct surrogate *surrogate, const double *values);

int surrogate_row_count(const struct surrogate *surrogate);
int surrogate_candidate_count(const struct surrogate *surrogate);
const struct genome *surrogate_candidate(const struct surrogate *surrogate, int index);

/* By candidate; valid until the next call that changes something. Those added after the last
   surrogate_condition have none. The variance is that of a value to be measured, noise included. */
const float *surrogate_means(const struct surrogate *surrogate);
const float *surrogate_variances(const struct surrogate *surrogate);

/* What a row's value is believed to be without its own noise, as after the last
   surrogate_condition, by which it had this one: just that where it has no noise of its own. */
double surrogate_settle(const struct surrogate *surrogate, int row, double value);

/* The guess for a genome that is no candidate, as after the last surrogate_condition. Slower than
   many candidates at once, but for where there is one, or where nobody asks how sure it is. */
double surrogate_guess(const struct surrogate *surrogate, const struct genome *genome);

/* How much alike a genome and each of the candidates from `first` on are, from 0 to 1. */
void surrogate_likeness(struct surrogate *surrogate, const struct genome *genome, int first,
                        float *likeness);

#endif
