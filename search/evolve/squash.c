#include "evolve/squash.h"

#include <math.h>

static double compress(const struct squash *squash, double us) {
    double value = log(us), past = value - squash->middle;
    return past <= 0 ? value : squash->middle + squash->span * log1p(past / squash->span);
}

struct squash squash_over(const double *sorted_us, int count) {
    struct squash squash = {.middle = log(sorted_us[count / 2])};
    double square = 0;
    squash.span = fmax(squash.middle - log(sorted_us[0]), 1e-6);
    for (int i = 0; i < count; i++)
        squash.mean += compress(&squash, sorted_us[i]) / count;
    for (int i = 0; i < count; i++) {
        double away = compress(&squash, sorted_us[i]) - squash.mean;
        square += away * away / count;
    }
    squash.deviation = sqrt(square) + 1e-9;
    return squash;
}

double squash_of(const struct squash *squash, double us) {
    return (compress(squash, us) - squash->mean) / squash->deviation;
}

double squash_noise(const struct squash *squash, double us, double error) {
    double past = log(us) - squash->middle;
    double slope = past <= 0 ? 1 : 1 / (1 + past / squash->span);
    return pow(error * slope / squash->deviation, 2);
}
