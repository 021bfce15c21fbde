/* predictions: cross-validated predictions of a run's trials, and their agreement with measurement.
 *
 * `evotile model fit` writes them: each trial is predicted by a fit that did not see its genome.
 * The run stores them under "predictions" (run_artifacts.h):
 *
 *     {"trials": [[12, 8.25], [17, 9.5]]}           trial number, predicted microseconds
 *
 *     struct predictions predictions;
 *     if (predictions_read(store, &predictions, &error) > 0)
 *         for (int i = 0; i < predictions.count; i++)
 *             printf("%g\n", predictions.items[i].predicted_us);
 *     predictions_release(&predictions);
 *     struct agreement agreement = agreement_compute(pairs, count);
 */
#ifndef EVOTILE_RUN_PREDICTIONS_H
#define EVOTILE_RUN_PREDICTIONS_H

#include "render/table.h"
#include "store/store.h"

struct prediction {
    int64_t trial;
    double predicted_us;
};

struct predictions {
    int count;
    struct prediction *items;
};

/* Returns 1 with the stored predictions, to be released; 0 if the run stores none; -1 if they are
   damaged. */
int predictions_read(struct store *store, struct predictions *predictions, struct error *error);
void predictions_release(struct predictions *predictions);
/* Opens the run's store for the write. */
int predictions_write(const char *run_dir, const struct predictions *predictions,
                      struct error *error);

/* ---- predictions of the rows of a recorded space ---- */

/* The file that `evotile model predict` writes: {"predicted_us": [5.25, null, ...]}, one number or
   null per row. Plain or gzip. Rows without a prediction are NAN. */
int predictions_read_rows(const char *path, double *predicted_us, int64_t row_count,
                          struct error *error);
int predictions_write_rows(const char *path, const double *predicted_us, int64_t row_count,
                           struct error *error);

/* ---- agreement with measurement ---- */

/* The figures of one trial; both positive. */
struct prediction_pair {
    double predicted_us, measured_us;
};

struct agreement {
    int count;
    double fastest_us, slowest_us; /* measured */
    double rank_correlation;       /* Spearman's; NaN for a single pair */
    double rank_low, rank_high;    /* its 99 % interval; NaN for fewer than four pairs */
    double off_percent;            /* root mean square error of the log ratios, as percent */
    double
        best_hundredth; /* measured: fastest of the 1 % predicted best, over the fastest of all */
};

/* `count` is at least 1. Sorts the pairs by prediction. */
struct agreement agreement_compute(struct prediction_pair *pairs, int count);

/* "run", "goal", then one column per figure. A table of a single run leaves out the first. */
enum { AGREEMENT_COLUMNS = 10 };
extern const struct table_column agreement_columns[AGREEMENT_COLUMNS];
/* Adds the cells after run and goal. */
void agreement_add_cells(struct table *table, const struct agreement *agreement);

#endif
