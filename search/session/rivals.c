#include "session/rivals.h"

#include <math.h>

void recent_scores_add(struct recent_scores *recent, double score_us) {
    recent->scores_us[recent->count++ % RECENT_SCORES] = score_us;
}

/* Scores that hardly differ still leave something to be found. */
static const double deviation_min = 0.01;

double recent_scores_gain(const struct recent_scores *recent, double best_us) {
    int known = recent->count < RECENT_SCORES ? (int)recent->count : RECENT_SCORES;
    int scored = 0;
    double sum = 0, squares = 0;
    if (known == 0 || best_us <= 0)
        return INFINITY;
    for (int i = 0; i < known; i++)
        if (recent->scores_us[i] > 0) {
            sum += log(recent->scores_us[i] / best_us);
            scored++;
        }
    if (scored == 0)
        return 0;
    const double mean = sum / scored;
    for (int i = 0; i < known; i++)
        if (recent->scores_us[i] > 0)
            squares += pow(log(recent->scores_us[i] / best_us) - mean, 2);
    const double deviation = fmax(sqrt(squares / scored), deviation_min), z = -mean / deviation;
    const double density = exp(-z * z / 2) / sqrt(2 * acos(-1)), below = erfc(-z / sqrt(2)) / 2;
    return scored / (double)known * deviation * (density + z * below);
}

int rivals_choose(const struct rival *rivals, int count, double best_us) {
    int fewest = -1, best = -1;
    int64_t trials = 0;
    double most = 0;
    for (int i = 0; i < count; i++) {
        trials += rivals[i].trials;
        if (!rivals[i].open)
            continue;
        if (fewest < 0 || rivals[i].trials < rivals[fewest].trials)
            fewest = i;
        const double gain = recent_scores_gain(rivals[i].recent, best_us);
        if (best < 0 || gain > most || (!(gain < most) && rivals[i].trials < rivals[best].trials)) {
            best = i;
            most = gain;
        }
    }
    if (fewest < 0 || rivals[fewest].trials < RIVAL_FIRST_TRIALS ||
        rivals[fewest].trials < trials / RIVAL_SHARE)
        return fewest;
    return best;
}
