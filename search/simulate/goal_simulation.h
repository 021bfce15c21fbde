/*
 * goal_simulation: recorded spaces as the goals of one run, for `simulate --goals`: how many trials
 * it takes until every goal has a genome near its optimum, if the goals learn from each other
 * (session/share.h) or not, and if the next one is chosen in turn or by expected gain
 * (session/goal_choice.h).
 *
 *     int status = goal_simulation_print(&simulation, 3, false, &error);
 *
 * The rules are those of a run. A trial takes the same time at each goal, and all goals are equally
 * far from each other, because a recorded space does not say.
 */
#ifndef EVOTILE_SIMULATE_GOAL_SIMULATION_H
#define EVOTILE_SIMULATE_GOAL_SIMULATION_H

#include "simulate/simulation.h"

/* Runs each strategy of the simulation, `trials` at most for all goals together, one at a time, and
   prints a table. The runs are shared among `jobs` processes. Near is `percent` from the optimum.
 */
int goal_simulation_print(const struct simulation *simulation, double percent, bool json,
                          struct error *error);

#endif
