#include "evolve/forecast.h"

#include "base/error.h"
#include "base/statistics.h"
#include "evolve/squash.h"
#include "evolve/surrogate.h"

#include <stdlib.h>
#include <string.h>

static int by_prediction(const void *left, const void *right) {
    const struct predicted *a = left, *b = right;
    if (a->us != b->us)
        return a->us < b->us ? -1 : 1;
    return memcmp(&a->genome, &b->genome, sizeof a->genome);
}

void predicted_sort(struct predicted *predicted, int count) {
    qsort(predicted, (size_t)count, sizeof *predicted, by_prediction);
}

enum { ROWS = ROWS_MAX, FASTEST = ROWS_MAX / 2 };

struct forecast {
    struct surrogate *surrogate;
    double deviation; /* of the compressed log latencies */
};

struct row {
    struct predicted predicted;
    int order;
};

static int by_latency(const void *left, const void *right) {
    const struct row *a = left, *b = right;
    if (a->predicted.us != b->predicted.us)
        return a->predicted.us < b->predicted.us ? -1 : 1;
    return a->order - b->order;
}

static int by_order(const void *left, const void *right) {
    return ((const struct row *)left)->order - ((const struct row *)right)->order;
}

/* Keeps `most` rows: the fastest for one half, the first others for the rest. Sorted by latency. */
static int thin(struct row *rows, int count, int most) {
    qsort(rows, (size_t)count, sizeof *rows, by_latency);
    if (count <= most)
        return count;
    qsort(rows + most / 2, (size_t)(count - most / 2), sizeof *rows, by_order);
    qsort(rows, (size_t)most, sizeof *rows, by_latency);
    return most;
}

static void split(const struct row *rows, int count, struct genome *genomes, double *values,
                  struct squash *squash) {
    double us[ROWS] = {0};
    for (int i = 0; i < count; i++)
        us[i] = rows[i].predicted.us;
    *squash = squash_over(us, count);
    for (int i = 0; i < count; i++) {
        genomes[i] = rows[i].predicted.genome;
        values[i] = squash_of(squash, us[i]);
    }
}

static void learn(struct forecast *forecast, struct row *rows, int count) {
    struct genome genomes[ROWS];
    double values[ROWS];
    const double noises[ROWS] = {0}; /* a device model is deterministic */
    struct row few[ROWS];
    struct squash squash;
    memcpy(few, rows, (size_t)count * sizeof *rows);
    int fitted = thin(few, count, FIT_MAX);
    split(few, fitted, genomes, values, &squash);
    surrogate_fit(forecast->surrogate, genomes, values, noises, fitted);
    split(rows, count, genomes, values, &squash);
    for (int i = 0; i < count; i++)
        surrogate_add_row(forecast->surrogate, &genomes[i], 0);
    surrogate_condition(forecast->surrogate, values);
    forecast->deviation = squash.deviation;
}

struct forecast *forecast_new(const struct space *space, const struct predicted *predicted,
                              int count) {
    struct forecast *forecast = calloc(1, sizeof *forecast);
    struct row *rows = calloc((size_t)count, sizeof *rows);
    if (forecast == NULL || rows == NULL)
        BUG("out of memory");
    for (int i = 0; i < count; i++)
        rows[i] = (struct row){predicted[i], i};
    forecast->surrogate = surrogate_new(space);
    learn(forecast, rows, thin(rows, count, ROWS));
    free(rows);
    return forecast;
}

void forecast_free(struct forecast *forecast) {
    if (forecast == NULL)
        return;
    surrogate_free(forecast->surrogate);
    free(forecast);
}

double forecast_of(const struct forecast *forecast, const struct genome *genome) {
    return forecast->deviation * surrogate_guess(forecast->surrogate, genome);
}

double forecast_limit(const struct forecast *forecast, const struct predicted *predicted, int count,
                      double share) {
    double *values = malloc((size_t)count * sizeof *values);
    if (values == NULL)
        BUG("out of memory");
    for (int i = 0; i < count; i++)
        values[i] = forecast_of(forecast, &predicted[i].genome);
    double limit = statistics_percentile(values, count, 100 * (1 - share));
    free(values);
    return limit;
}
