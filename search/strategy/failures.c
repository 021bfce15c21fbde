#include "strategy/failures.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

struct failures {
    const struct space *space;
    struct failure_count all;
    struct failure_count single[GENES_MAX][DOMAIN_MAX];
    size_t pair_offsets[GENES_MAX][GENES_MAX]; /* offset of a pair's cells; first < second */
    struct failure_count *pairs;
    size_t cells; /* values and pairs of values */
};

struct failures *failures_new(const struct space *space) {
    struct failures *failures = xcalloc(1, sizeof *failures);
    size_t pairs = 0;
    failures->space = space;
    for (int a = 0; a < space->gene_count; a++) {
        failures->cells += (size_t)space->genes[a].count;
        for (int b = a + 1; b < space->gene_count; b++) {
            failures->pair_offsets[a][b] = pairs;
            pairs += (size_t)space->genes[a].count * (size_t)space->genes[b].count;
        }
    }
    failures->pairs = xcalloc(pairs + 1, sizeof *failures->pairs);
    failures->cells += pairs;
    return failures;
}

void failures_free(struct failures *failures) {
    if (failures == NULL)
        return;
    free(failures->pairs);
    free(failures);
}

static struct failure_count *pair_count(const struct failures *failures, int first, int first_value,
                                        int second, int second_value) {
    return &failures->pairs[failures->pair_offsets[first][second] +
                            (size_t)first_value * (size_t)failures->space->genes[second].count +
                            (size_t)second_value];
}

struct failure_count failures_find(const struct failures *failures, int first, int first_value,
                                   int second, int second_value) {
    if (second == FAILURES_SINGLE)
        return failures->single[first][first_value];
    return first < second ? *pair_count(failures, first, first_value, second, second_value)
                          : *pair_count(failures, second, second_value, first, first_value);
}

static void add_trial(struct failure_count *count, bool failed) {
    count->trials++;
    count->failed += failed;
}

void failures_add(struct failures *failures, const struct genome *genome, bool failed) {
    const int count = failures->space->gene_count;
    add_trial(&failures->all, failed);
    for (int a = 0; a < count; a++) {
        add_trial(&failures->single[a][genome->value[a]], failed);
        for (int b = a + 1; b < count; b++)
            add_trial(pair_count(failures, a, genome->value[a], b, genome->value[b]), failed);
    }
}

static bool all_failed(struct failure_count count) {
    return count.failed >= FAILURES_MIN && count.failed == count.trials;
}

bool failures_always(const struct failures *failures, struct failure_count count) {
    const double share = (failures->all.failed + 1.0) / (failures->all.trials + 2.0);
    return all_failed(count) && pow(share, count.failed) * (double)failures->cells < 0.01;
}

bool failures_contain(const struct failures *failures, const struct genome *genome) {
    const int count = failures->space->gene_count;
    for (int a = 0; a < count; a++)
        for (int b = a + 1; b < count; b++)
            if (all_failed(*pair_count(failures, a, genome->value[a], b, genome->value[b])))
                return true;
    return false;
}
