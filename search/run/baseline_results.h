/* baseline_results: the times of a baseline for each case of a run.
 *
 * `evotile baseline` writes them; the verbs that show speedups read them. A run stores one
 * baseline, under "baseline" (run_artifacts.h); a new one replaces it.
 *
 *     {"baseline": "its name and version", "device": "NVIDIA H200", "measured": 1763712000.5,
 *      "cases": [{"name": "ROWS=4,COLS=40", "fastest": "fused", "implementations": [
 *        {"name": "fused", "p10_us": 9.0, "p50_us": 9.1, "p90_us": 9.2,
 *         "cold_p10_us": 11.1, "cold_p50_us": 11.3, "cold_p90_us": 11.4},
 *        {"name": "wide", "unable": "the rows are not wide"}]}]}
 *
 *     struct baseline_results *results;
 *     if (baseline_results_read(store, &results, &error) > 0)
 *         printf("%g\n", baseline_results_p50_us(results, case_index));
 *     baseline_results_free(results);
 */
#ifndef EVOTILE_RUN_BASELINE_RESULTS_H
#define EVOTILE_RUN_BASELINE_RESULTS_H

#include "evaluate/baseline.h"
#include "store/store.h"

struct baseline_figure {
    char name[64];             /* of the implementation */
    char unable[REASON_SIZE];  /* why it does not support the case; empty: it does */
    struct latency warm, cold; /* if it does; the samples are not stored */
};

struct baseline_case {
    char name[CASE_NAME_SIZE];
    int count;
    struct baseline_figure figures[IMPLEMENTATIONS_MAX];
    int fastest; /* the figure with the least warm p50; -1: no implementation supports the case */
};

struct baseline_results {
    char name[BASELINE_NAME_SIZE], device[128];
    double measured; /* time of measurement, in seconds since 1970 */
    int case_count;
    struct baseline_case cases[CASES_MAX]; /* in the order of the config's */
};

/* Allocates zeroed results. */
struct baseline_results *baseline_results_new(void);
void baseline_results_free(struct baseline_results *results);

/* The fastest figure of a case; NULL if there is none, or if the results are NULL. */
const struct baseline_figure *baseline_results_fastest(const struct baseline_results *results,
                                                       int case_index);
/* Its warm median in microseconds, or NaN. */
double baseline_results_p50_us(const struct baseline_results *results, int case_index);

/* Returns 1 with the stored results, to be freed; 0 with NULL if the run stores none; -1 if they
   are damaged. */
int baseline_results_read(struct store *store, struct baseline_results **results,
                          struct error *error);
/* Writes in a transaction of its own: none may be open. The store must be open for writing. */
int baseline_results_write(struct store *store, const struct baseline_results *results,
                           struct error *error);

/* The JSON object that is stored; the caller owns it. */
cJSON *baseline_results_json(const struct baseline_results *results);

#endif
