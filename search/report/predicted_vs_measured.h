/*
 * predicted_vs_measured: the measured trials of a goal for which the run stores a prediction by a
 * model that was not fitted to them (run/predictions.h), for comparing the two.
 *
 *     struct predicted_vs_measured *pairs = predicted_vs_measured_new(run, goal); // NULL: none
 *     const struct trial_row *row = &run->rows[pairs->rows[0]];
 *     printf("%g %g %g\n", row->predicted_us, row->latency_us, pairs->agreement.rank_correlation);
 *     predicted_vs_measured_free(pairs);
 *
 * Excludes trials of another driver or toolkit, and trials whose score is itself a prediction.
 */
#ifndef EVOTILE_REPORT_PREDICTED_VS_MEASURED_H
#define EVOTILE_REPORT_PREDICTED_VS_MEASURED_H

#include "analysis/run_data.h"
#include "run/predictions.h"

struct predicted_vs_measured {
    int count;
    int *rows; /* indices of trial rows, in the order observed */
    struct agreement agreement;
};

struct predicted_vs_measured *predicted_vs_measured_new(const struct run_data *run, int goal);
void predicted_vs_measured_free(struct predicted_vs_measured *comparison);

#endif
