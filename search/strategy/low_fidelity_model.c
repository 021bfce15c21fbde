#include "strategy/low_fidelity_model.h"

#include "base/error.h"
#include "base/memory.h"
#include "strategy/output_transform.h"
#include "strategy/surrogate.h"

#include <stdlib.h>
#include <string.h>

static int compare_predictions(const void *left, const void *right) {
    const struct predicted *a = left, *b = right;
    if (a->us != b->us)
        return a->us < b->us ? -1 : 1;
    return memcmp(&a->genome, &b->genome, sizeof a->genome);
}

void predicted_sort(struct predicted *predicted, int count) {
    qsort(predicted, (size_t)count, sizeof *predicted, compare_predictions);
}

enum { ROWS = ROWS_MAX, FASTEST = ROWS_MAX / 2 };

struct low_fidelity_model {
    struct surrogate *surrogate;
    double deviation; /* of the compressed log latencies */
};

struct prediction_row {
    struct predicted predicted;
    int order;
};

static int compare_latencies(const void *left, const void *right) {
    const struct prediction_row *a = left, *b = right;
    if (a->predicted.us != b->predicted.us)
        return a->predicted.us < b->predicted.us ? -1 : 1;
    return a->order - b->order;
}

static int compare_orders(const void *left, const void *right) {
    return ((const struct prediction_row *)left)->order -
           ((const struct prediction_row *)right)->order;
}

/* Keeps `most` rows: the fastest for one half, the first others for the rest. Sorted by latency. */
static int subsample_rows(struct prediction_row *rows, int count, int most) {
    qsort(rows, (size_t)count, sizeof *rows, compare_latencies);
    if (count <= most)
        return count;
    qsort(rows + most / 2, (size_t)(count - most / 2), sizeof *rows, compare_orders);
    qsort(rows, (size_t)most, sizeof *rows, compare_latencies);
    return most;
}

static void split_rows(const struct prediction_row *rows, int count, struct genome *genomes,
                       double *values, struct output_transform *transform) {
    double us[ROWS] = {0};
    for (int i = 0; i < count; i++)
        us[i] = rows[i].predicted.us;
    *transform = output_transform_fit(us, count);
    for (int i = 0; i < count; i++) {
        genomes[i] = rows[i].predicted.genome;
        values[i] = output_transform_apply(transform, us[i]);
    }
}

static void fit_model(struct low_fidelity_model *model, struct prediction_row *rows, int count) {
    struct genome *genomes = xcalloc(ROWS, sizeof *genomes);
    struct prediction_row *subsample = xcalloc(ROWS, sizeof *subsample);
    double *values = xcalloc(ROWS, sizeof *values);
    double *noises = xcalloc(ROWS, sizeof *noises); /* a device model is deterministic */
    struct output_transform transform;
    memcpy(subsample, rows, (size_t)count * sizeof *rows);
    int fitted = subsample_rows(subsample, count, FIT_MAX);
    split_rows(subsample, fitted, genomes, values, &transform);
    surrogate_fit(model->surrogate, genomes, values, noises, fitted);
    split_rows(rows, count, genomes, values, &transform);
    for (int i = 0; i < count; i++)
        surrogate_add_row(model->surrogate, &genomes[i], 0);
    surrogate_condition(model->surrogate, values);
    model->deviation = transform.deviation;
    free(genomes);
    free(subsample);
    free(values);
    free(noises);
}

struct low_fidelity_model *low_fidelity_model_new(const struct space *space,
                                                  const struct predicted *predicted, int count) {
    struct low_fidelity_model *model = xcalloc(1, sizeof *model);
    struct prediction_row *rows = xcalloc((size_t)count, sizeof *rows);
    for (int i = 0; i < count; i++)
        rows[i] = (struct prediction_row){predicted[i], i};
    model->surrogate = surrogate_new(space);
    fit_model(model, rows, subsample_rows(rows, count, ROWS));
    free(rows);
    return model;
}

void low_fidelity_model_free(struct low_fidelity_model *model) {
    if (model == NULL)
        return;
    surrogate_free(model->surrogate);
    free(model);
}

double low_fidelity_model_predict(const struct low_fidelity_model *model,
                                  const struct genome *genome) {
    return model->deviation * surrogate_predict(model->surrogate, genome);
}
