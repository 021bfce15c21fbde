#include "simulate/score.h"

#include "base/memory.h"
#include "base/statistics.h"

#include <math.h>

/* Below this probability the remaining terms do not change a double. */
static const double negligible = 1e-15;

static int compare_descending(const void *a, const void *b) {
    double first = *(const double *)a;
    double second = *(const double *)b;
    return (first < second) - (first > second);
}

void score_random_curve(const struct recorded *recorded, int trials, double *curve) {
    int64_t count = recorded->row_count;
    double *ratios = xcalloc((size_t)count, sizeof *ratios);
    for (int64_t i = 0; i < count; i++)
        ratios[i] = recorded->best_us / recorded->times_us[i]; /* 0 for failed rows */
    qsort(ratios, (size_t)count, sizeof *ratios, compare_descending);
    for (int k = 1; k <= trials; k++) {
        double expected = 0;
        double none_yet = 1; /* the probability that no better row is among the k */
        for (int64_t i = 0; i < count && none_yet >= negligible; i++) {
            double hit = fmin(1, (double)k / (double)(count - i));
            expected += none_yet * hit * ratios[i];
            none_yet *= 1 - hit;
        }
        curve[k - 1] = expected;
    }
    free(ratios);
}

/* Computes the ratios of one run; returns the first trial that came near the optimum, or trials +
   1. */
static int run_curve(const struct recorded *recorded, const struct visits *run, int trials,
                     double near_percent, double *curve) {
    double near_ratio = 1 / (1 + near_percent / 100);
    double best_us = INFINITY;
    int near_trial = trials + 1;
    for (int k = 0; k < trials; k++) {
        if (k < run->count)
            best_us = fmin(best_us, recorded->times_us[run->rows[k]]);
        curve[k] = recorded->best_us / best_us;
        if (near_trial > trials && curve[k] >= near_ratio)
            near_trial = k + 1;
    }
    return near_trial;
}

struct score score_runs(const struct recorded *recorded, const struct visits *runs, int run_count,
                        int trials, double near_percent, const double *random_curve,
                        double *curve) {
    struct score score = {.random = statistics_mean(random_curve, trials)};
    double *areas = xcalloc((size_t)run_count, sizeof *areas);
    double *near_trials = xcalloc((size_t)run_count, sizeof *near_trials);
    double *run_ratios = xcalloc((size_t)trials, sizeof *run_ratios);
    for (int k = 0; k < trials; k++)
        curve[k] = 0;
    for (int i = 0; i < run_count; i++) {
        near_trials[i] = run_curve(recorded, &runs[i], trials, near_percent, run_ratios);
        areas[i] = statistics_mean(run_ratios, trials);
        score.optimum_found += run_ratios[trials - 1] == 1;
        score.near_found += near_trials[i] <= trials;
        score.visited += runs[i].count < trials ? runs[i].count : trials;
        for (int k = 0; k < trials; k++)
            curve[k] += run_ratios[k] / run_count;
    }
    score.area = statistics_mean(areas, run_count);
    score.area_median = statistics_median(areas, run_count);
    score.gain = (score.area - score.random) / (1 - score.random);
    score.optimum_found /= run_count;
    score.near_found /= run_count;
    score.visited /= run_count;
    score.trials_to_near = statistics_median(near_trials, run_count);
    if (score.trials_to_near > trials)
        score.trials_to_near = NAN;
    free(areas);
    free(near_trials);
    free(run_ratios);
    return score;
}

struct speedup score_speedup(const struct recorded *recorded, const struct visits *runs,
                             int run_count, int64_t row) {
    struct speedup speedup = {.least = INFINITY};
    double *ratios = xcalloc((size_t)run_count, sizeof *ratios);
    double trials = 0;
    for (int i = 0; i < run_count; i++) {
        double least_us = INFINITY;
        for (int k = 0; k < runs[i].count; k++) {
            enum verdict_reach reach = verdict_reach(recorded->verdicts[runs[i].rows[k]]);
            least_us = fmin(least_us, recorded->times_us[runs[i].rows[k]]);
            speedup.compiled += reach >= REACHED_COMPILER;
            speedup.ran += reach >= REACHED_RUN;
            speedup.correct += reach == REACHED_END;
        }
        trials += runs[i].count;
        ratios[i] = recorded->times_us[row] / least_us;
        speedup.least = fmin(speedup.least, ratios[i]);
        speedup.best = fmax(speedup.best, ratios[i]);
        speedup.faster += ratios[i] > 1;
    }
    speedup.median = statistics_median(ratios, run_count);
    speedup.faster /= run_count;
    speedup.compiled /= trials;
    speedup.ran /= trials;
    speedup.correct /= trials;
    free(ratios);
    return speedup;
}
