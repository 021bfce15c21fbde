#include "strategy/feasibility.h"

enum { FAILURES_MAX = 200 };

static bool has_failed(const struct history_entry *observed) {
    return !observed->ok && !observed->lost;
}

void feasibility_begin(struct feasibility *feasibility, const struct evolution *evolution,
                       size_t milestone) {
    feasibility->milestone = milestone;
    feasibility->count = 0;
    feasibility->has_failures = false;
    for (size_t i = 0; i < milestone && !feasibility->has_failures; i++)
        feasibility->has_failures = has_failed(evolution_observed(evolution, i));
}

/* Adds a trial to the sums of the candidates from `first` on. */
static void add_weights(struct feasibility *feasibility, struct surrogate *surrogate,
                        const struct history_entry *entry, int first) {
    float correlations[CANDIDATES_MAX];
    int count = surrogate_candidate_count(surrogate);
    if (entry->lost)
        return;
    surrogate_correlations(surrogate, &entry->genome, first, correlations);
    for (int i = first; i < count; i++) {
        float square = correlations[i - first] * correlations[i - first];
        feasibility->weights[i] += square * square;
        feasibility->ok_weights[i] += entry->ok ? square * square : 0;
    }
}

void feasibility_add(struct feasibility *feasibility, struct surrogate *surrogate,
                     const struct history_entry *entry) {
    if (feasibility->has_failures)
        add_weights(feasibility, surrogate, entry, 0);
    feasibility->has_failures = feasibility->has_failures || has_failed(entry);
}

void feasibility_extend(struct feasibility *feasibility, struct surrogate *surrogate,
                        const struct evolution *evolution, const uint32_t *rows, int row_count,
                        size_t observed) {
    int first = feasibility->count, failed = 0, count = surrogate_candidate_count(surrogate);
    if (!feasibility->has_failures || first == count)
        return;
    feasibility->count = count;
    for (int i = first; i < count; i++)
        feasibility->weights[i] = feasibility->ok_weights[i] = 0;
    for (int row = 0; row < row_count; row++)
        add_weights(feasibility, surrogate, &evolution->history.entries[rows[row]], first);
    for (size_t i = feasibility->milestone; i-- > 0 && failed < FAILURES_MAX;)
        if (has_failed(evolution_observed(evolution, i))) {
            add_weights(feasibility, surrogate, evolution_observed(evolution, i), first);
            failed++;
        }
    for (size_t i = feasibility->milestone; i < observed; i++)
        add_weights(feasibility, surrogate, evolution_observed(evolution, i), first);
}

double feasibility_share(const struct feasibility *feasibility, int candidate) {
    return feasibility->has_failures ? (feasibility->ok_weights[candidate] + 0.5) /
                                           (feasibility->weights[candidate] + 0.5)
                                     : 1;
}
