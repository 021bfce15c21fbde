/*
 * baselines: the champions of a run compared with the baselines (run/baseline_results.h), by case
 * and implementation.
 *
 *     struct baselines *baselines;
 *     if (baselines_read(run, &baselines, &error) < 0)           // NULL: the run has no baselines
 *         return -1;
 *     char *svg = picture_bars(&baselines->bars, axis, "ratios to the baselines");
 *     struct table *table = baselines_table(baselines);
 *     baselines_free(baselines);
 *     free(svg);
 */
#ifndef EVOTILE_REPORT_BASELINES_H
#define EVOTILE_REPORT_BASELINES_H

#include "report/pictures.h"
#include "run/baseline_results.h"

struct baselines {
    struct baseline_results *results;
    const struct run_data *run;
    double champion_us[CASES_MAX]; /* warm p50 by case; NaN: no champion */
    char about[416];
    struct bars bars; /* every implementation; if these are too many, the fastest of each case */
};

int baselines_read(const struct run_data *run, struct baselines **baselines, struct error *error);
void baselines_free(struct baselines *baselines);

struct table *baselines_table(const struct baselines *baselines);

#endif
