/* simulation: benchmarks search strategies on recorded spaces, in parallel; for `simulate`.
 *
 * A run asks the strategy for a genome and looks its time up in the recorded space; nothing is
 * compiled or measured. There is one run for each space, strategy and seed.
 *
 *     struct simulation simulation = {.spaces = spaces, .space_count = 2, .strategies = names,
 *                                     .strategy_count = 3, .seeds = 8, .trials = 200,
 *                                     .in_flight = 1, .jobs = 4};
 *     int status = simulation_run(&simulation, &error);
 *     struct visits visits = simulation_visits(&simulation, space, strategy, seed);  // status 0
 *     simulation_release(&simulation);
 *
 * With `in_flight` = K there are always K open proposals, answered in the order of asking. With
 * `noise`, the strategy is told the median of noisy samples: few samples of a genome that is much
 * slower than the best, as the race takes, more of the others. The noise level differs from row to
 * row. Scores always use the recorded times.
 */
#ifndef EVOTILE_SIMULATE_SIMULATION_H
#define EVOTILE_SIMULATE_SIMULATION_H

#include "base/error.h"
#include "simulate/score.h"
#include "strategy/source.h"

struct simulation_run {
    int visited;
    double seconds; /* of processor time */
};

struct simulation {
    /* Input; the arrays stay the caller's. */
    struct recorded *const *spaces;
    int space_count;
    const char *const *strategies;
    int strategy_count;
    int seeds; /* runs of each strategy on each space */
    uint64_t first_seed;
    int trials, in_flight, jobs;
    const int64_t
        *first_rows; /* by space: the first row of each run; NULL: the strategy's choice */
    const struct source *const *sources; /* by space: what its runs learn from; NULL: nothing */
    const int *source_counts;
    const double *predicted_us; /* by row of the only space, NAN if there is none; NULL: none */
    int predict;                /* how many of these, chosen at random, each run gets */
    double noise; /* typical standard deviation of samples about a row's time, in percent */
    /* Output: the result of each run. */
    struct parallel *parallel;
};

/* Blocks until all runs are done. Fails on an unknown strategy, or if a run fails. */
int simulation_run(struct simulation *simulation, struct error *error);
void simulation_release(struct simulation *simulation);

/* The rows that a run visited, in the order of asking; owned by the simulation. */
struct visits simulation_visits(const struct simulation *simulation, int space, int strategy,
                                int seed);
/* Trials per second of processor time, over all seeds. */
double simulation_speed(const struct simulation *simulation, int space, int strategy);

#endif
