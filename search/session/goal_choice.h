/*
 * goal_choice: which goal of a run gets the next trial: the one that is expected to gain most a
 * second, or, if all gains are INFINITY, the one with the fewest trials.
 *
 *     const struct goal_prospect prospects[] = {{true, 12, 1, 0.3, 0.02}, {true, 9, 1, 0.4, 0.05}};
 *     int goal = goal_choose(prospects, 2);
 *
 * What is expected is what the goal's model says (evolution_expected_gain), which may be wrong: no
 * goal gets less than a quarter of an equal share. Everything follows from the results so far.
 */
#ifndef EVOTILE_SESSION_GOAL_CHOICE_H
#define EVOTILE_SESSION_GOAL_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

enum { GOAL_SHARE = 4 }; /* an equal share divided by this is the least */

struct goal_prospect {
    bool open;      /* it can take another trial */
    int64_t trials; /* finished or in flight */
    double weight;
    double seconds; /* that one of its trials takes; any unit, the same for all */
    double gain;    /* of the logarithm of its best score, by one more trial; INFINITY: its first
                       trials, of which no model speaks */
};

/* The goal of the next trial, or -1 if none is open. Weights are factors of gains and of shares. */
int goal_choose(const struct goal_prospect *prospects, int count);

#endif
