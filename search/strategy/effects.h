/*
 * effects: what an archive says of a change of a genome: how many times the score of one genome is
 * that of another, with a 99 % interval and what the figure rests on. `summary`, `report`, `ablate
 * --claims` and the strategies `insight` and `full` all ask here.
 *
 * A search tries values beside those that it holds good at the time, so means over the trials with
 * a value say more of its company than of the value. Here the whole archive is fitted: a Gaussian
 * process (strategy/surrogate.h) predicts both genomes together. Where the archive cannot tell, the
 * interval is wide and holds 1.
 *
 *     struct effects *effects = effects_new(space);
 *     count = effects_choose(trials, count, EFFECTS_TRIALS_MAX);
 *     if (effects_fit(effects, trials, count)) {
 *         struct effect effect = effects_between(effects, &champion, &changed);
 *         if (effect_is_certain(&effect))
 *             printf("%.2f times as slow\n", effect.ratio);
 *     }
 *     effects_free(effects);
 *
 * Two trials that were measured differ as measured, up to their errors. An interval of a prediction
 * is as wide as the model's own errors demand: each trial is predicted from the others, and the
 * 99th percentile of those errors in deviations, or a quantile of Student's distribution if that is
 * more, takes the place of 2.58. docs/measurements/effects.md has how often the claims are right.
 */
#ifndef EVOTILE_STRATEGY_EFFECTS_H
#define EVOTILE_STRATEGY_EFFECTS_H

#include "space/space.h"

struct random;
struct effects;

enum {
    EFFECTS_TRIALS_MAX = 400, /* of a model */
    EFFECTS_TRIALS_MIN = 10,  /* valid ones, for a model */
};

/* A successful trial. `error`: the relative standard error of its score, as another measurement
   would differ. */
struct effect_trial {
    struct genome genome;
    double score, error;
    int64_t number; /* for the caller */
};

struct effect {
    /* Score of the changed genome over that of the first, with a 99 % interval. `high` is INFINITY
       where it would be slower than all trials: nothing is known of such scores. */
    double ratio, low, high;
    bool measured; /* both are trials of the model; else it predicts */
    int tried;     /* trials of the model that agree with the changed genome in all that changes */
    int pairs;     /* pairs of trials that differ in just this change, whatever their other genes */
};

/* `space` must outlive the effects. */
struct effects *effects_new(const struct space *space);
void effects_free(struct effects *effects);

/* Sorts the trials, fastest first, and of more than `most` keeps the best and a random sample of
   the others; the same trials give the same sample. Returns their number. Errors are not read. */
int effects_choose(struct effect_trial *trials, int count, int most);

/* Fits the model to chosen trials, at most EFFECTS_TRIALS_MAX; the same trials give the same model.
   Returns false, without a model, for fewer than EFFECTS_TRIALS_MIN or if all scores are equal. */
bool effects_fit(struct effects *effects, const struct effect_trial *trials, int count);

struct effect effects_between(const struct effects *effects, const struct genome *from,
                              const struct genome *to);

/* Whether the effect may be claimed: its interval excludes 1, and the change was measured, here or
   in a pair. Without a pair all trials with a value may owe their times to what else they have; the
   model then blames one of them. */
bool effect_is_certain(const struct effect *effect);

/* A random draw of the change's value from its posterior, for Thompson sampling: comparable among
   changes of the same genome, the least is the fastest, 0 is no change. */
double effects_draw(const struct effects *effects, const struct genome *from,
                    const struct genome *to, struct random *random);

#endif
