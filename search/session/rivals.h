/*
 * rivals: goals of the same cases and other solutions share their trials by expected gain. Each is
 * first tried FIRST_TRIALS times; then a rival gets the next trial if one more of its trials is
 * expected to gain most on the best of all: the expected improvement (Jones, Schonlau and Welch
 * 1998, "Efficient Global Optimization") under a normal distribution of its recent log scores, of
 * which some fail. A rival always keeps a twentieth of the trials, because recent scores say little
 * of what another part of its space holds.
 *
 *     struct recent_scores recent = {0};
 *     recent_scores_add(&recent, score_us);
 *     goal = rivals_choose(rivals, count, best_us);
 */
#ifndef EVOTILE_SESSION_RIVALS_H
#define EVOTILE_SESSION_RIVALS_H

#include <stdbool.h>
#include <stdint.h>

enum { RECENT_SCORES = 32, RIVAL_FIRST_TRIALS = 16, RIVAL_SHARE = 20 };

/* The latest outcomes of a goal, in no order; 0: a trial without a score. All zeros: none yet. */
struct recent_scores {
    int64_t count; /* added; the array has the last RECENT_SCORES of them */
    double scores_us[RECENT_SCORES];
};
void recent_scores_add(struct recent_scores *recent, double score_us);

/* The logarithm of best_us that one more trial is expected to take off; INFINITY while nothing is
   known: no trial yet, or no score to beat (best_us is 0). */
double recent_scores_gain(const struct recent_scores *recent, double best_us);

struct rival {
    bool open;      /* it can take another trial */
    int64_t trials; /* finished or in flight */
    const struct recent_scores *recent;
};

/* The rival that gets the next trial, or -1 if none is open. `best_us`: the best score of all; 0:
   none. */
int rivals_choose(const struct rival *rivals, int count, double best_us);

#endif
