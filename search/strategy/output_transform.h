/*
 * output_transform: warps latencies into the values that a surrogate models: logarithms, with the
 * slower half compressed because only the fast half has to be distinguished, then standardised.
 *
 *     struct output_transform transform = output_transform_fit(sorted_us, count); // ascending
 *     double value = output_transform_apply(&transform, latency_us);
 */
#ifndef EVOTILE_STRATEGY_OUTPUT_TRANSFORM_H
#define EVOTILE_STRATEGY_OUTPUT_TRANSFORM_H

struct output_transform {
    double median, span;    /* of log latency: the median, and its distance to the least */
    double mean, deviation; /* of the compressed logarithms */
};

struct output_transform output_transform_fit(const double *sorted_us, int count);
double output_transform_apply(const struct output_transform *transform, double us);
/* The latency of a transformed value; INFINITY for a value far above all that was fitted. */
double output_transform_invert(const struct output_transform *transform, double value);
/* The variance of the transformed value when the latency has the relative standard error
   `error`. */
double output_transform_noise(const struct output_transform *transform, double us, double error);

#endif
