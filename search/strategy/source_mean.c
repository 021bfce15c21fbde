#include "strategy/source_mean.h"

#include "base/cholesky.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SWEEPS = 200, EXPONENT_MAX = 600 };

/* Before any result the weights add up to the first of these: the mean of the sources is taken as
   it is, so that many questions in flight follow it. Fitted weights shrink to 0 as if `ridge`
   independent results had shown no relation: a source counts as far as it has proved itself. */
static const double blind_weight = 1, ridge = 2;

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

/* The normal equations of generalised least squares, without the ridge. */
struct equations {
    double square[SOURCES_MAX][SOURCES_MAX], product[SOURCES_MAX];
    double total;               /* sum of the squares of the whitened values */
    double centre[SOURCES_MAX]; /* the mean of each source's values, subtracted from them */
};

static void fill_equations(struct equations *equations, const struct surrogate *surrogate,
                           int count, const double (*source_values)[SOURCES_MAX],
                           const double *values) {
    const int rows = surrogate_row_count(surrogate);
    double(*columns)[ROWS_MAX] = xcalloc(SOURCES_MAX + 1, sizeof *columns);
    double *column = xcalloc(ROWS_MAX, sizeof *column);
    int known = 0;
    *equations = (struct equations){0};
    for (int row = 0; row < rows; row++)
        known += !isnan(values[row]);
    for (int row = 0; row < rows; row++)
        for (int s = 0; s < count && !isnan(values[row]); s++)
            equations->centre[s] += source_values[row][s] / known;
    for (int s = 0; s < count; s++) {
        for (int row = 0; row < rows; row++)
            column[row] = isnan(values[row]) ? NAN : source_values[row][s] - equations->centre[s];
        surrogate_whiten(surrogate, column, columns[s]);
    }
    surrogate_whiten(surrogate, values, columns[SOURCES_MAX]);
    equations->total = cholesky_dot(columns[SOURCES_MAX], columns[SOURCES_MAX], rows);
    for (int s = 0; s < count; s++) {
        equations->product[s] = cholesky_dot(columns[s], columns[SOURCES_MAX], rows);
        for (int t = 0; t < count; t++)
            equations->square[s][t] = cholesky_dot(columns[s], columns[t], rows);
    }
    free(column);
    free(columns);
}

void source_mean_fit(struct source_mean *mean, const struct surrogate *surrogate,
                     const double (*source_values)[SOURCES_MAX], const double *values) {
    struct equations equations;
    fill_equations(&equations, surrogate, mean->count, source_values, values);
    for (int s = 0; s < mean->count; s++) {
        equations.square[s][s] += ridge;
        mean->weights[s] = 0;
    }
    descend(mean->count, equations.square, equations.product, mean->weights);
    mean->intercept = 0;
    for (int s = 0; s < mean->count; s++)
        mean->intercept -= mean->weights[s] * equations.centre[s];
}

double source_mean_evidence(const struct surrogate *surrogate, int count,
                            const double (*source_values)[SOURCES_MAX], const double *values) {
    struct equations equations;
    double sum = 0;
    fill_equations(&equations, surrogate, count, source_values, values);
    for (int s = 0; s < count; s++) {
        const double square = equations.square[s][s] + ridge,
                     product = fmax(0, equations.product[s]);
        const double explained =
            equations.total > 0 ? product * product / square / equations.total : 0;
        const double exponent = -0.5 * surrogate_row_count(surrogate) * log1p(-explained);
        sum += exp(fmin(exponent, EXPONENT_MAX)) * sqrt(ridge / square);
    }
    return log(sum / count);
}

double source_mean_at(const struct source_mean *mean, const double *source_values) {
    double value = mean->intercept;
    for (int s = 0; s < mean->count; s++)
        value += mean->weights[s] * source_values[s];
    return value;
}
