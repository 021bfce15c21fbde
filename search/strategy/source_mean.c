#include "strategy/source_mean.h"

#include "base/cholesky.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SWEEPS = 200 };

/* Before any result the ensemble counts for this many deviations of the search's own process, so
   that many questions in flight follow it. Fitted weights shrink to 0 as if this many independent
   results had shown no relation: a source counts as far as it has proved itself. */
static const double blind_weight = 3, ridge = 2;

void source_mean_prior(struct source_mean *mean, const double *distances, int count) {
    double sum = 0;
    *mean = (struct source_mean){.count = count};
    for (int s = 0; s < count; s++)
        sum += exp2(-distances[s]);
    for (int s = 0; s < count; s++)
        mean->weights[s] = blind_weight * exp2(-distances[s]) / sum;
}

/* Coordinate descent on the normal equations. */
static void descend(int count, double (*square)[SOURCES_MAX], const double *product,
                    double *weights) {
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (int s = 0; s < count; s++) {
            double rest = product[s];
            for (int t = 0; t < count; t++)
                rest -= t != s ? square[s][t] * weights[t] : 0;
            weights[s] = fmax(0, rest / square[s][s]);
        }
}

void source_mean_fit(struct source_mean *mean, const struct surrogate *surrogate,
                     const double (*source_values)[SOURCES_MAX], const double *values) {
    const int rows = surrogate_row_count(surrogate);
    double(*columns)[ROWS_MAX] = xcalloc(SOURCES_MAX + 1, sizeof *columns);
    double square[SOURCES_MAX][SOURCES_MAX] = {{0}}, product[SOURCES_MAX] = {0};
    double centre[SOURCES_MAX] = {0};
    double *column = xcalloc(ROWS_MAX, sizeof *column);
    int known = 0;
    for (int row = 0; row < rows; row++)
        known += !isnan(values[row]);
    for (int row = 0; row < rows; row++)
        for (int s = 0; s < mean->count && !isnan(values[row]); s++)
            centre[s] += source_values[row][s] / known;
    for (int s = 0; s < mean->count; s++) {
        for (int row = 0; row < rows; row++)
            column[row] = isnan(values[row]) ? NAN : source_values[row][s] - centre[s];
        surrogate_whiten(surrogate, column, columns[s]);
    }
    surrogate_whiten(surrogate, values, columns[SOURCES_MAX]);
    for (int s = 0; s < mean->count; s++) {
        product[s] = cholesky_dot(columns[s], columns[SOURCES_MAX], rows);
        for (int t = 0; t < mean->count; t++)
            square[s][t] = (s == t ? ridge : 0) + cholesky_dot(columns[s], columns[t], rows);
        mean->weights[s] = 0;
    }
    free(column);
    free(columns);
    descend(mean->count, square, product, mean->weights);
    mean->intercept = 0;
    for (int s = 0; s < mean->count; s++)
        mean->intercept -= mean->weights[s] * centre[s];
}

double source_mean_at(const struct source_mean *mean, const double *source_values) {
    double value = mean->intercept;
    for (int s = 0; s < mean->count; s++)
        value += mean->weights[s] * source_values[s];
    return value;
}
