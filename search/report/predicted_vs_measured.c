#include "report/predicted_vs_measured.h"
#include "base/memory.h"

#include <math.h>

static bool has_prediction(const struct trial_row *it, int goal) {
    return it->goal == goal && !it->outdated && !it->predicted && !isnan(it->latency_us) &&
           !isnan(it->predicted_us);
}

struct predicted_vs_measured *predicted_vs_measured_new(const struct run_data *run, int goal) {
    struct predicted_vs_measured *comparison = xcalloc(1, sizeof *comparison);
    int count = 0;
    for (int i = 0; i < run->count; i++)
        count += has_prediction(&run->rows[i], goal);
    int *rows = xcalloc((size_t)count + 1, sizeof *rows);
    struct prediction_pair *pairs = xcalloc((size_t)count + 1, sizeof *pairs);
    *comparison = (struct predicted_vs_measured){.rows = rows};
    for (int i = 0; i < run->count; i++) {
        const struct trial_row *it = &run->rows[i];
        if (!has_prediction(it, goal))
            continue;
        pairs[comparison->count] = (struct prediction_pair){it->predicted_us, it->latency_us};
        rows[comparison->count++] = i;
    }
    if (count > 0) {
        comparison->agreement = agreement_compute(pairs, count);
    } else {
        predicted_vs_measured_free(comparison);
        comparison = NULL;
    }
    free(pairs);
    return comparison;
}

void predicted_vs_measured_free(struct predicted_vs_measured *comparison) {
    if (comparison == NULL)
        return;
    free(comparison->rows);
    free(comparison);
}
