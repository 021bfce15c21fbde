/*
 * trend: what forecasts (evolve/forecast.h) explain of the values that a model learns: a straight
 * line, whose slope is believed to be near 1 until enough values say otherwise.
 *
 *     struct trend trend = trend_take(forecasts, values, count, deviation);
 *     ... learn what is left of the values, guess a value from it ...
 *     guess += trend_at(&trend, forecast);
 *
 * Forecasts are logarithms; values are standardised ones, of which 1 is `deviation`.
 */
#ifndef EVOTILE_EVOLVE_TREND_H
#define EVOTILE_EVOLVE_TREND_H

/* The values that go with forecasts: level + slope * forecast. All zeros where there are none. */
struct trend {
    double level, slope;
};

/* Takes from the values what the forecasts of the same genomes explain, and returns that. */
struct trend trend_take(const double *forecasts, double *values, int count, double deviation);

/* Where no value is known: 1 is as much as forecasts usually are off. */
struct trend trend_usual(void);

double trend_at(const struct trend *trend, double forecast);

#endif
