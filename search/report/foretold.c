#include "report/foretold.h"

#include <math.h>

static bool is_foretold(const struct sight *it, int goal) {
    return it->goal == goal && !it->outdated && !it->predicted && !isnan(it->score_us) &&
           !isnan(it->foretold_us);
}

struct foretold *foretold_new(const struct gathered *run, int goal) {
    struct foretold *foretold = calloc(1, sizeof *foretold);
    int count = 0;
    for (int i = 0; i < run->count; i++)
        count += is_foretold(&run->sights[i], goal);
    int *sights = calloc((size_t)count + 1, sizeof *sights);
    struct prediction_pair *pairs = calloc((size_t)count + 1, sizeof *pairs);
    if (foretold == NULL || sights == NULL || pairs == NULL)
        BUG("out of memory");
    *foretold = (struct foretold){.sights = sights};
    for (int i = 0; i < run->count; i++) {
        const struct sight *it = &run->sights[i];
        if (!is_foretold(it, goal))
            continue;
        pairs[foretold->count] = (struct prediction_pair){it->foretold_us, it->score_us};
        sights[foretold->count++] = i;
    }
    if (count > 0) {
        foretold->agreement = agreement_of(pairs, count);
    } else {
        foretold_free(foretold);
        foretold = NULL;
    }
    free(pairs);
    return foretold;
}

void foretold_free(struct foretold *foretold) {
    if (foretold == NULL)
        return;
    free(foretold->sights);
    free(foretold);
}
