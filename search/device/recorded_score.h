/*
 * recorded_score: how good a search was on a recorded space, from the rows that it visited. The
 * measure, for `trials` = K of 400:
 *
 *   ratio(k)  optimum / the least time among the first k visits; 0 while none of them is valid; a
 *             run that stopped early keeps its last
 *   area      the mean of ratio(1) ... ratio(K), averaged over the runs
 *   random    the area of drawing without replacement, exactly
 *   gain      (area - random) / (1 - random): 0 is random search, 1 the optimum at the first trial
 *
 *     double *curve = calloc(trials, sizeof *curve);
 *     score_random_curve(recorded, trials, curve);
 *     struct score score = score_runs(recorded, runs, run_count, trials, 1, curve, mean_curve);
 *
 * The visits of a run are all different: a search that asks twice must be filtered before.
 */
#ifndef EVOTILE_DEVICE_RECORDED_SCORE_H
#define EVOTILE_DEVICE_RECORDED_SCORE_H

#include "device/recorded.h"

struct visits {
    const uint32_t *rows;
    int count;
};

struct score {
    double area, area_median, random, gain;
    double optimum_found;  /* share of the runs */
    double near_found;     /* share that came within so many percent of the optimum */
    double trials_to_near; /* the median over the runs; NAN: more than `trials` */
    double visited;        /* mean over the runs */
};

/* What runs won over one row, and how far their trials came: shares of all of them, each of those
   that came as far as the gate before. */
struct speedup {
    double median, least, best; /* over the runs: that row's time / the least that the run found */
    double faster;              /* share of the runs that found a faster one */
    double compiled, ran, correct;
};

/* The expected ratio(k) of k rows drawn without replacement, at curve[k - 1]. */
void score_random_curve(const struct recorded *recorded, int trials, double *curve);

/* Fills `curve` with the mean of the runs' ratios. Near the optimum is what takes up to so many
   percent longer. */
struct score score_runs(const struct recorded *recorded, const struct visits *runs, int run_count,
                        int trials, double near_percent, const double *random_curve, double *curve);

/* `row` is ok. */
struct speedup score_speedup(const struct recorded *recorded, const struct visits *runs,
                             int run_count, int64_t row);

#endif
