#include "evolve/effects.h"

#include "base/random.h"

#include <math.h>
#include <string.h>

/* How many trials the belief that a value is like all others is worth. */
static const double prior_count = 1;
/* How many deviations above the mean a failure counts. */
static const double failure_deviations = 2;

void effects_init(struct effects *effects) {
    memset(effects, 0, sizeof *effects);
}

void effects_learn(struct effects *effects, const struct genome *genome, int gene_count,
                   double log_score) {
    bool ok = !isnan(log_score);
    if (ok) {
        effects->count++;
        effects->sum += log_score;
        effects->square += log_score * log_score;
    }
    for (int gene = 0; gene < gene_count; gene++) {
        struct effect *effect = &effects->values[gene][genome->value[gene]];
        effect->count += ok;
        effect->sum += ok ? log_score : 0;
        effect->failures += !ok;
    }
}

/* Nearly normal, which will do: mean 0, variance 1, from four uniforms. */
static double bell(struct random *random) {
    double sum = -2;
    for (int i = 0; i < 4; i++)
        sum += random_uniform(random);
    return sum * 1.7320508075688772;
}

int effects_draw(const struct effects *effects, const struct space *space, int gene,
                 struct random *random) {
    double total = fmax(effects->count, 1), mean = effects->sum / total;
    double deviation = sqrt(fmax(effects->square / total - mean * mean, 1e-12));
    double bad = mean + failure_deviations * deviation, least = INFINITY;
    int best = 0;
    for (int value = 0; value < space->genes[gene].count; value++) {
        const struct effect *effect = &effects->values[gene][value];
        double count = effect->count + effect->failures + prior_count;
        double belief = (effect->sum + effect->failures * bad + prior_count * mean) / count;
        double drawn = belief + deviation / sqrt(count) * bell(random);
        if (drawn < least) {
            least = drawn;
            best = value;
        }
    }
    return best;
}
