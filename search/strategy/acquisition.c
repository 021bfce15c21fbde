#include "strategy/acquisition.h"

#include <math.h>

double acquisition_expected_improvement(double best, double mean, double variance) {
    double deviation = sqrt(variance), t = (best - mean) / deviation;
    if (t < -8) /* below the precision of the closed form; only the order matters */
        return 1e-30 * exp(t);
    double density = 0.3989422804014327 * exp(-0.5 * t * t);
    return deviation * (t * 0.5 * erfc(-t * 0.7071067811865475) + density);
}

double acquisition_confidence_bound(double mean, double variance) {
    return exp(3 * sqrt(variance) - mean);
}
