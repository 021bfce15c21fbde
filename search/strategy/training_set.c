#include "strategy/training_set.h"

#include "strategy/surrogate.h"

#include <stdlib.h>

static int compare_scores(const void *left, const void *right) {
    const struct training_row *a = left, *b = right;
    if (a->score_us != b->score_us)
        return a->score_us < b->score_us ? -1 : 1;
    return a->entry < b->entry ? -1 : a->entry > b->entry;
}

void training_set_sort(struct training_row *rows, int count) {
    qsort(rows, (size_t)count, sizeof *rows, compare_scores);
}

int training_set_collect(const struct evolution *evolution, size_t observed,
                         struct training_row *rows) {
    int count = 0;
    for (size_t i = 0; i < observed; i++) {
        const struct history_entry *entry = evolution_observed(evolution, i);
        if (entry->ok)
            rows[count++] = (struct training_row){entry->score_us, evolution->observed[i]};
    }
    training_set_sort(rows, count);
    return count;
}

int training_set_sample(struct training_row *rows, int count, int best, int most,
                        struct random *random) {
    int kept_count = best;
    if (count <= most)
        return count;
    for (int i = best; i < count; i++)
        if (random_below(random, (uint64_t)(count - i)) < (uint64_t)(most - kept_count))
            rows[kept_count++] = rows[i];
    return kept_count;
}

struct output_transform training_set_transform(const struct training_row *rows, int count) {
    double scores[ROWS_MAX] = {0};
    for (int i = 0; i < count; i++)
        scores[i] = rows[i].score_us;
    return output_transform_fit(scores, count);
}

double training_set_noise(const struct evolution *evolution,
                          const struct output_transform *transform,
                          const struct training_row *row) {
    return output_transform_noise(transform, row->score_us,
                                  evolution->history.entries[row->entry].score_error);
}
