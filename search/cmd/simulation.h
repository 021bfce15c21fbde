/*
 * simulation: searches replayed on recorded spaces, by look-up: many runs of many strategies, over
 * processes. For the verb simulate.
 *
 *     struct simulation simulation = {.spaces = spaces, .space_count = 2, .strategies = names,
 * ...}; if (simulation_run(&simulation, &error) == 0) struct visits visits =
 * simulation_visits(&simulation, space, strategy, seed); simulation_release(&simulation);
 *
 * A run asks the strategy for a genome and looks its row up; with `in_flight` = K there are always
 * K open questions, answered in the order in which they were asked. With `noise` answers are
 * medians of samples that scatter: few of what is much slower than the best, as a race takes, more
 * of others; how far, differs from row to row. What counts is still what the rows say.
 */
#ifndef EVOTILE_CMD_SIMULATION_H
#define EVOTILE_CMD_SIMULATION_H

#include "base/error.h"
#include "device/recorded_score.h"

struct simulation_run {
    int visited, filtered;
    double seconds; /* of processor time */
};

struct simulation {
    /* The caller's. */
    struct recorded *const *spaces;
    int space_count;
    const char *const *strategies;
    int strategy_count;
    int seeds; /* runs of each strategy on each space */
    uint64_t first_seed;
    int trials, in_flight, islands, jobs;
    const int64_t *first_rows;  /* by space: what each run tries first; NULL: what it likes */
    const double *predicted_us; /* by row of the one space, NAN where nothing is; NULL: none */
    int predict;                /* each run is given so many of these, by chance */
    double noise;     /* how far samples scatter about a row's time, in percent, typically */
    double prefilter; /* the share of the space that is filtered (evolve/evolution.h) */
    /* Filled: a run for each space, strategy and seed. */
    struct simulation_shared *shared;
    size_t shared_bytes;
};

/* Fails on an unknown strategy, and when a run failed. */
int simulation_run(struct simulation *simulation, struct error *error);
void simulation_release(struct simulation *simulation);

/* The rows that a run visited, in the order of asking. */
struct visits simulation_visits(const struct simulation *simulation, int space, int strategy,
                                int seed);
/* How many that it asked about were filtered, beside those visits. */
int simulation_filtered(const struct simulation *simulation, int space, int strategy, int seed);
/* Trials a second of processor time, over the seeds. */
double simulation_speed(const struct simulation *simulation, int space, int strategy);

#endif
