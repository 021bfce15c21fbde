/* baseline_duel: what a duel between a trial of a run and its baseline measured.
 *
 * `evotile duel RUN baseline` writes it; the board, reports and exports call it the ratio to the
 * baseline. Both sides were timed in turns, under one load and at one clock, which separate timings
 * (baseline_results.h) are not. A trial has one, under "baseline_duel:N" (run_artifacts.h).
 *
 *     {"trial": 12, "baseline": "its name and version", "device": "NVIDIA H200",
 *      "measured": 1763712000.5, "conditions": "1980 MHz, up to 412 W", "ratio": 1.44,
 *      "low": 1.42, "high": 1.46, "cases": [
 *        {"name": "ROWS=4,COLS=40", "against": "fused", "ratio": 1.44, "low": 1.42,
 *         "high": 1.46}]}
 *
 *     struct baseline_duel *duel;
 *     if (baseline_duel_read(store, trial, &duel, &error) > 0)
 *         printf("%g\n", duel->all.ratio);
 *     free(duel);
 */
#ifndef EVOTILE_RUN_BASELINE_DUEL_H
#define EVOTILE_RUN_BASELINE_DUEL_H

#include "config/config.h"
#include "evaluate/trial.h"
#include "store/store.h"

/* The baseline's time over the kernel's, with its 99 % interval: above 1 the kernel is faster. */
struct baseline_ratio {
    double ratio, low, high;
};

struct baseline_duel {
    int64_t trial;
    char baseline[BASELINE_NAME_SIZE], device[128];
    double measured;                       /* in seconds since 1970 */
    char conditions[CONDITIONS_TEXT_SIZE]; /* empty: no readings */
    struct baseline_ratio all;             /* over the cases: their geometric mean */
    int case_count;
    struct {
        char name[CASE_NAME_SIZE];
        char against[64]; /* the baseline's implementation */
        struct baseline_ratio ratio;
    } cases[CASES_MAX]; /* in the order of the goal's */
};

/* The duel of a result; the caller frees it, and fills the names of the cases. */
struct baseline_duel *baseline_duel_new(const struct trial_result *result, const char *device);

/* Returns 1 with the stored duel, to be freed; 0 with NULL if the trial has none since it was
   measured last (under another driver it is measured again); -1 if it is damaged. */
int baseline_duel_read(struct store *store, const struct store_trial *trial,
                       struct baseline_duel **duel, struct error *error);
/* Opens the run for writing: it must not be in use. */
int baseline_duel_write(const char *run_dir, const struct baseline_duel *duel, struct error *error);

/* The ratio of a case of a duel, or with -1 of all; NULL without a duel or such a case. */
const struct baseline_ratio *baseline_duel_ratio(const struct baseline_duel *duel, int number);

#endif
