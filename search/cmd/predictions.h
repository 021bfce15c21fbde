/*
 * predictions: what `evotile model fit` foretold of a run's trials, each by a fit that had not seen
 * its genome, and how well that agrees with what was measured. Kept with the run (cmd/kept.h) under
 * "predictions":
 *
 *     {"trials": [[12, 8.25], [17, 9.5]]}           a trial's number, its predicted microseconds
 *
 *     struct predictions predictions;
 *     if (predictions_read(store, &predictions, &error) > 0) {
 *         ... predictions.items[i].trial, predictions.items[i].predicted_us ...
 *         predictions_release(&predictions);
 *     }
 *     struct agreement agreement = agreement_of(pairs, count);
 */
#ifndef EVOTILE_CMD_PREDICTIONS_H
#define EVOTILE_CMD_PREDICTIONS_H

#include "cmd/table.h"
#include "store/store.h"

struct prediction {
    int64_t trial;
    double predicted_us;
};

struct predictions {
    int count;
    struct prediction *items;
};

/* 1 with what the run keeps, to be released; 0 where it keeps none; -1 where that is damaged. */
int predictions_read(struct store *store, struct predictions *predictions, struct error *error);
void predictions_release(struct predictions *predictions);
/* Opens the run for writing meanwhile. */
int predictions_keep(const char *run_dir, const struct predictions *predictions,
                     struct error *error);

/* ---- of the rows of a recorded space ---- */

/* What `evotile model predict` writes: {"predicted_us": [5.25, null, ...]}, a number a row, of
   some. Plain or gzip. Rows without become NAN. */
int predictions_read_rows(const char *path, double *predicted_us, int64_t row_count,
                          struct error *error);
int predictions_write_rows(const char *path, const double *predicted_us, int64_t row_count,
                           struct error *error);

/* ---- beside what was measured ---- */

/* Of one trial; both positive. */
struct prediction_pair {
    double predicted_us, measured_us;
};

struct agreement {
    int count;
    double fastest_us, slowest_us; /* measured */
    double rank_correlation;       /* Spearman's; NaN of a single pair */
    double off_percent;            /* the root mean square of the ratios */
    double best_hundredth; /* measured: the fastest of the 1 % predicted best, over the fastest */
};

/* At least one; puts them in the order of what was predicted. */
struct agreement agreement_of(struct prediction_pair *pairs, int count);

/* "run", "goal", then a column for each of the figures. Who shows one run leaves out the first. */
enum { AGREEMENT_COLUMNS = 8 };
extern const struct table_column agreement_columns[AGREEMENT_COLUMNS];
/* The cells behind run and goal. */
void agreement_add(struct table *table, const struct agreement *agreement);

#endif
