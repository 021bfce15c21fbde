#include "evolve/trend.h"

#include <math.h>

/* Prior standard deviations: of log latency from its prediction, and of the slope from 1. */
static const double usually_off = 0.15, slope_usually_off = 0.3;

static struct trend trend_of(const double *forecasts, const double *values, int count,
                             double deviation) {
    const double trust = pow(usually_off / slope_usually_off, 2);
    double middle = 0, mean = 0, square = trust, product = trust;
    for (int i = 0; i < count; i++) {
        middle += forecasts[i] / count;
        mean += values[i] / count;
    }
    for (int i = 0; i < count; i++) {
        square += (forecasts[i] - middle) * (forecasts[i] - middle);
        product += (forecasts[i] - middle) * (values[i] - mean) * deviation;
    }
    double slope = product / square / deviation;
    return (struct trend){mean - slope * middle, slope};
}

struct trend trend_take(const double *forecasts, double *values, int count, double deviation) {
    struct trend trend = trend_of(forecasts, values, count, deviation);
    for (int i = 0; i < count; i++)
        values[i] -= trend_at(&trend, forecasts[i]);
    return trend;
}

struct trend trend_usual(void) {
    return (struct trend){0, 1 / usually_off};
}

double trend_at(const struct trend *trend, double forecast) {
    return trend->level + trend->slope * forecast;
}
