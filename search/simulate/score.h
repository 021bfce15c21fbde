/*
 * recorded_score: scores a search on a recorded space from the rows that it visited. For `trials` =
 * K (400):
 *
 *   ratio(k)  optimum / best time among the first k visits; 0 while none of them is valid; a run
 * that stopped early keeps its last ratio area      the mean of ratio(1) ... ratio(K), averaged
 * over the runs random    the exact expected area of sampling without replacement gain      (area -
 * random) / (1 - random): 0 is random search, 1 is the optimum at the first trial
 *
 *     double *curve = calloc(trials, sizeof *curve);
 *     score_random_curve(recorded, trials, curve);
 *     struct score score = score_runs(recorded, runs, run_count, trials, 1, curve, mean_curve);
 *
 * The visits of a run must be distinct: the caller filters repeated questions.
 */
#ifndef EVOTILE_SIMULATE_SCORE_H
#define EVOTILE_SIMULATE_SCORE_H

#include "device/recorded.h"

struct visits {
    const uint32_t *rows;
    int count;
};

struct score {
    double area, area_median, random, gain;
    double optimum_found;  /* fraction of the runs */
    double near_found;     /* fraction of the runs that came within `near_percent` of the optimum */
    double trials_to_near; /* median over the runs; NAN: more than `trials` */
    double visited;        /* mean over the runs */
};

/* The speedup of runs over one row, and the fractions of trials that compiled, ran and were
   correct. */
struct speedup {
    double median, least, best; /* over the runs: that row's time / the run's best time */
    double faster;              /* fraction of the runs that found a faster row */
    double compiled, ran, correct;
};

/* Fills curve[k - 1] with the expected ratio(k) of k rows sampled without replacement. */
void score_random_curve(const struct recorded *recorded, int trials, double *curve);

/* Fills `curve` with the mean of the runs' ratios. "Near the optimum" is at most `near_percent`
   slower. */
struct score score_runs(const struct recorded *recorded, const struct visits *runs, int run_count,
                        int trials, double near_percent, const double *random_curve, double *curve);

/* `row` must be ok. */
struct speedup score_speedup(const struct recorded *recorded, const struct visits *runs,
                             int run_count, int64_t row);

#endif
