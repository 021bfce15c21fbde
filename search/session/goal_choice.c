#include "session/goal_choice.h"

#include <math.h>

static double by_weight(const struct goal_prospect *prospect) {
    return (double)prospect->trials / prospect->weight;
}

static bool is_better(const struct goal_prospect *a, const struct goal_prospect *b) {
    const double gain = a->weight * a->gain / a->seconds, other = b->weight * b->gain / b->seconds;
    return gain > other || (!(gain < other) && by_weight(a) < by_weight(b));
}

int goal_choose(const struct goal_prospect *prospects, int count) {
    int fewest = -1, best = -1;
    double trials = 0, weights = 0;
    for (int i = 0; i < count; i++) {
        if (!prospects[i].open)
            continue;
        trials += (double)prospects[i].trials;
        weights += prospects[i].weight;
        if (fewest < 0 || by_weight(&prospects[i]) < by_weight(&prospects[fewest]))
            fewest = i;
        if (best < 0 || is_better(&prospects[i], &prospects[best]))
            best = i;
    }
    return fewest >= 0 && by_weight(&prospects[fewest]) < trials / weights / GOAL_SHARE ? fewest
                                                                                        : best;
}
