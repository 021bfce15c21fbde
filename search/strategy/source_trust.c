#include "strategy/source_trust.h"

#include "base/memory.h"
#include "strategy/source_mean.h"
#include "strategy/source_set.h"

#include <math.h>
#include <stdlib.h>

enum { RESULTS_MIN = 2 };

/* The logarithm of the odds before any result, and how often the evidence counts. It compares no
   weight with a weight that may be small, so that results which show no relation lower it slowly:
   to -2 and no further within a hundred results of most recorded spaces. */
static const double prior_odds = 2, evidence_weight = 3;

/* Takes at most FIT_MAX of the sorted rows, equally spaced. Returns their number. */
static int choose_rows(const struct training_row *rows, int count,
                       struct training_row chosen[FIT_MAX]) {
    const int most = count < FIT_MAX ? count : FIT_MAX;
    for (int i = 0; i < most; i++)
        chosen[i] = rows[(int64_t)i * count / most];
    return most;
}

static double probability(double log_odds) {
    return 1 / (1 + exp(-log_odds));
}

double source_trust(struct source_set *sources, struct surrogate *surrogate,
                    const struct evolution *evolution, const struct training_row *rows, int count) {
    struct training_row chosen[FIT_MAX];
    double values[FIT_MAX];
    if (count < RESULTS_MIN)
        return probability(prior_odds);
    count = choose_rows(rows, count, chosen);
    double(*source_values)[SOURCES_MAX] = xcalloc((size_t)count, sizeof *source_values);
    const struct output_transform transform = training_set_transform(chosen, count);
    surrogate_clear(surrogate);
    for (int i = 0; i < count; i++) {
        const struct genome *genome = &evolution->history.entries[chosen[i].entry].genome;
        surrogate_add_row(surrogate, genome, training_set_noise(evolution, &transform, &chosen[i]));
        source_set_values(sources, genome, source_values[i]);
        values[i] = output_transform_apply(&transform, chosen[i].score_us);
    }
    const double evidence =
        source_mean_evidence(surrogate, source_set_count(sources), source_values, values);
    surrogate_clear(surrogate);
    free(source_values);
    return probability(prior_odds + evidence_weight * evidence);
}
