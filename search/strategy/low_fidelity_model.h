/*
 * low_fidelity_model: a Gaussian process over the logarithms of latencies that a device model
 * predicted for some genomes; it interpolates the prediction for any genome. Strategy `auto` uses
 * it as the low-fidelity level of a two-fidelity model: its own process models the difference
 * between measured latency and this prediction.
 *
 *     struct low_fidelity_model *model = low_fidelity_model_new(space, predicted, count);
 *     double value = low_fidelity_model_predict(model, &genome);
 *     low_fidelity_model_free(model);
 *
 * Values are logarithms of microseconds with the slower half compressed, because slow genomes need
 * not be distinguished. Sources: Kennedy and O'Hagan, "Predicting the output from a complex
 * computer code when fast approximations are available", 2000; Le Gratiet and Garnier, "Recursive
 * co-kriging", 2014, for fitting one process after the other.
 */
#ifndef EVOTILE_STRATEGY_LOW_FIDELITY_MODEL_H
#define EVOTILE_STRATEGY_LOW_FIDELITY_MODEL_H

#include "space/space.h"

/* A genome and its predicted latency, which is positive. The predictions come from outside. */
struct predicted {
    struct genome genome;
    double us;
};

_Static_assert(sizeof(struct predicted) == sizeof(struct genome) + sizeof(double), "it is hashed");

/* Sorts by predicted latency, fastest first; ties by the bytes of the genomes. */
void predicted_sort(struct predicted *predicted, int count);

struct low_fidelity_model;

/* Takes at least one prediction. If there are more than fit, keeps the fastest half and fills up
   with the others in their order. `space` must outlive the model. */
struct low_fidelity_model *low_fidelity_model_new(const struct space *space,
                                                  const struct predicted *predicted, int count);
void low_fidelity_model_free(struct low_fidelity_model *model);

double low_fidelity_model_predict(const struct low_fidelity_model *model,
                                  const struct genome *genome);

#endif
