#include "strategy/source_trust.h"

#include <math.h>

enum { RESULTS_MIN = 4 };

static const double least_limit = 1;

/* Sums of one source's values x and of the results' y. */
struct sums {
    double x, xx, xy;
};

bool source_trust(struct source_set *sources, const struct evolution *evolution,
                  const struct training_row *rows, int count) {
    struct sums sums[SOURCES_MAX] = {{0}};
    double y = 0, yy = 0, most = -INFINITY;
    const int source_count = source_set_count(sources);
    const double limit = least_limit + 0.5 * log2(source_count);
    if (count < RESULTS_MIN)
        return true;
    for (int i = 0; i < count; i++) {
        double values[SOURCES_MAX];
        const double value = log(rows[i].score_us);
        source_set_values(sources, &evolution->history.entries[rows[i].entry].genome, values);
        y += value;
        yy += value * value;
        for (int s = 0; s < source_count; s++) {
            sums[s].x += values[s];
            sums[s].xx += values[s] * values[s];
            sums[s].xy += values[s] * value;
        }
    }
    for (int s = 0; s < source_count; s++) {
        const double spread = (sums[s].xx - sums[s].x * sums[s].x / count) * (yy - y * y / count);
        if (spread > 0)
            most = fmax(most, (sums[s].xy - sums[s].x * y / count) / sqrt(spread));
    }
    return most * sqrt(count) >= limit;
}
