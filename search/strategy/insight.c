#include "strategy/insight.h"

#include "base/memory.h"
#include "base/random.h"
#include "space/breed.h"
#include "strategy/effects.h"
#include "strategy/failures.h"

#include <math.h>
#include <stdlib.h>

enum {
    FIRST_FIT = 16,    /* results before the first model */
    GROWTH = 4,        /* a new model when the results have grown by this part */
    TRIALS_MOST = 160, /* of a model */
    CHILDREN_MAX = 64, /* pairs of genes with more pairs of values are not sampled together */
};

struct insight {
    const struct space *space;
    struct failures *failures;
    struct effects *effects;
    bool has_effects;
    size_t processed; /* results that `failures` has */
    size_t next_fit;  /* number of results */
    uint64_t rescored_count;
};

struct insight *insight_new(const struct space *space) {
    struct insight *insight = xcalloc(1, sizeof *insight);
    insight->space = space;
    insight->failures = failures_new(space);
    insight->effects = effects_new(space);
    insight->next_fit = FIRST_FIT;
    return insight;
}

void insight_free(struct insight *insight) {
    if (insight == NULL)
        return;
    failures_free(insight->failures);
    effects_free(insight->effects);
    free(insight);
}

static void start_over(struct insight *insight, uint64_t rescored_count) {
    failures_free(insight->failures);
    insight->failures = failures_new(insight->space);
    insight->has_effects = false;
    insight->processed = 0;
    insight->next_fit = FIRST_FIT;
    insight->rescored_count = rescored_count;
}

/* Fits the effects to the first `observed` results. */
static void fit_effects(struct insight *insight, const struct evolution *evolution,
                        size_t observed) {
    struct effect_trial *trials = xmalloc(observed * sizeof *trials);
    int count = 0;
    for (size_t i = 0; i < observed; i++) {
        const struct history_entry *entry = evolution_observed(evolution, i);
        if (entry->ok)
            trials[count++] = (struct effect_trial){entry->genome, entry->score_us,
                                                    entry->score_error, entry->trial};
    }
    count = effects_choose(trials, count, TRIALS_MOST);
    insight->has_effects = effects_fit(insight->effects, trials, count);
    free(trials);
}

void insight_update(struct insight *insight, const struct evolution *evolution) {
    size_t fit_at = 0;
    if (insight->rescored_count != evolution->rescored_count)
        start_over(insight, evolution->rescored_count);
    for (; insight->processed < evolution->observed_count; insight->processed++) {
        const struct history_entry *entry = evolution_observed(evolution, insight->processed);
        if (!entry->lost)
            failures_add(insight->failures, &entry->genome, !entry->ok);
    }
    for (; insight->next_fit <= evolution->observed_count;
         insight->next_fit += insight->next_fit / GROWTH)
        fit_at = insight->next_fit;
    if (fit_at > 0)
        fit_effects(insight, evolution, fit_at);
}

/* ---- breeding ---- */

/* Takes the child if its draw is the least. */
static void consider(const struct insight *insight, const struct evolution *evolution,
                     const struct genome *parent, struct genome changed, struct random *random,
                     double *least, struct genome *child) {
    genome_canonicalise(&changed, insight->space);
    if (genome_equal(&changed, parent) || history_find(&evolution->history, &changed) != NULL)
        return;
    const double draw = insight->has_effects
                            ? effects_draw(insight->effects, parent, &changed, random)
                            : random_uniform(random);
    if (draw >= *least)
        return;
    *least = draw;
    *child = changed;
}

bool insight_breed(const struct insight *insight, const struct evolution *evolution,
                   const struct genome *parent, struct random *random, struct genome *child) {
    const struct gene *genes = insight->space->genes;
    const uint64_t count = (uint64_t)insight->space->gene_count;
    const int first = (int)random_below(random, count);
    const int second = (int)random_below(random, count);
    const bool pair = random_below(random, 2) && first != second &&
                      genes[first].count * genes[second].count <= CHILDREN_MAX;
    double least = INFINITY;
    for (int a = 0; a < genes[first].count; a++)
        for (int b = 0; b < (pair ? genes[second].count : 1); b++) {
            struct genome changed = *parent;
            changed.value[first] = (uint8_t)a;
            if (pair)
                changed.value[second] = (uint8_t)b;
            consider(insight, evolution, parent, changed, random, &least, child);
        }
    return isfinite(least) && breed_repair(insight->space, random, child);
}

bool insight_rejects(const struct insight *insight, const struct genome *child) {
    return failures_contain(insight->failures, child);
}
