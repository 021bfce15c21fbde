/*
 * linear_mean: the mean function of the surrogate when low-fidelity predictions exist
 * (strategy/low_fidelity_model.h): a straight line in the prediction, with a prior on the slope
 * near 1 that holds until enough values contradict it.
 *
 *     struct linear_mean mean = linear_mean_subtract(predictions, values, count, deviation);
 *     // fit a model to the residuals left in values; value is its prediction
 *     value += linear_mean_at(&mean, prediction);
 *
 * Predictions are logarithms; values are standardised, in units of `deviation`.
 */
#ifndef EVOTILE_STRATEGY_LINEAR_MEAN_H
#define EVOTILE_STRATEGY_LINEAR_MEAN_H

/* value = intercept + slope * prediction. All zeros without predictions. */
struct linear_mean {
    double intercept, slope;
};

/* Fits the line and subtracts it from the values. Returns the line. */
struct linear_mean linear_mean_subtract(const double *predictions, double *values, int count,
                                        double deviation);

/* The prior line, for when no value is known: a difference of 1 is the usual error of a
   prediction. */
struct linear_mean linear_mean_default(void);

double linear_mean_at(const struct linear_mean *line, double prediction);

#endif
