#include "strategy/output_transform.h"

#include <math.h>

static double compress(const struct output_transform *transform, double us) {
    double value = log(us), excess = value - transform->median;
    return excess <= 0 ? value
                       : transform->median + transform->span * log1p(excess / transform->span);
}

struct output_transform output_transform_fit(const double *sorted_us, int count) {
    struct output_transform transform = {.median = log(sorted_us[count / 2])};
    double square = 0;
    transform.span = fmax(transform.median - log(sorted_us[0]), 1e-6);
    for (int i = 0; i < count; i++)
        transform.mean += compress(&transform, sorted_us[i]) / count;
    for (int i = 0; i < count; i++) {
        double difference = compress(&transform, sorted_us[i]) - transform.mean;
        square += difference * difference / count;
    }
    transform.deviation = sqrt(square) + 1e-9;
    return transform;
}

double output_transform_apply(const struct output_transform *transform, double us) {
    return (compress(transform, us) - transform->mean) / transform->deviation;
}

double output_transform_invert(const struct output_transform *transform, double value) {
    double log_us = value * transform->deviation + transform->mean;
    double excess = log_us - transform->median;
    return exp(excess <= 0 ? log_us
                           : transform->median + transform->span * expm1(excess / transform->span));
}

double output_transform_noise(const struct output_transform *transform, double us, double error) {
    double excess = log(us) - transform->median;
    double slope = excess <= 0 ? 1 : 1 / (1 + excess / transform->span);
    return pow(error * slope / transform->deviation, 2);
}
