#include "strategy/linear_mean.h"

#include <math.h>

/* Prior standard deviations: of log latency from its prediction, and of the slope from 1. */
static const double usual_error = 0.15, usual_slope_error = 0.3;

static struct linear_mean fit_line(const double *predictions, const double *values, int count,
                                   double deviation) {
    const double prior_precision = pow(usual_error / usual_slope_error, 2);
    double mean_prediction = 0, mean_value = 0, square = prior_precision, product = prior_precision;
    for (int i = 0; i < count; i++) {
        mean_prediction += predictions[i] / count;
        mean_value += values[i] / count;
    }
    for (int i = 0; i < count; i++) {
        square += (predictions[i] - mean_prediction) * (predictions[i] - mean_prediction);
        product += (predictions[i] - mean_prediction) * (values[i] - mean_value) * deviation;
    }
    double slope = product / square / deviation;
    return (struct linear_mean){mean_value - slope * mean_prediction, slope};
}

struct linear_mean linear_mean_subtract(const double *predictions, double *values, int count,
                                        double deviation) {
    struct linear_mean line = fit_line(predictions, values, count, deviation);
    for (int i = 0; i < count; i++)
        values[i] -= linear_mean_at(&line, predictions[i]);
    return line;
}

struct linear_mean linear_mean_default(void) {
    return (struct linear_mean){0, 1 / usual_error};
}

double linear_mean_at(const struct linear_mean *line, double prediction) {
    return line->intercept + line->slope * prediction;
}
