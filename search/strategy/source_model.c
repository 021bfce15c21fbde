#include "strategy/source_model.h"

#include "base/memory.h"
#include "base/random.h"
#include "strategy/history.h"
#include "strategy/output_transform.h"
#include "strategy/surrogate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = ROWS_MAX, STREAM = 0x736f7572 };

struct source_model {
    const struct space *space;
    uint32_t genes;
    struct history tried;     /* genomes of the source; `score_us` is the value */
    struct history predicted; /* values that the process gave, remembered */
    struct surrogate *surrogate;
    double mean, deviation; /* of the values that the process was fitted to */
};

/* Two genomes that differ only in genes that the source lacks are one. */
static struct genome restrict_genome(const struct source_model *model,
                                     const struct genome *genome) {
    struct genome known = {0};
    for (int g = 0; g < model->space->gene_count; g++)
        if (model->genes >> g & 1)
            known.value[g] = genome->value[g];
    return known;
}

static struct output_transform fit_transform(const struct source *source, int *ok_count) {
    double *us = xcalloc((size_t)source->row_count, sizeof *us);
    int count = 0;
    for (; count < source->row_count && isfinite(source->rows[count].us); count++)
        us[count] = source->rows[count].us;
    const struct output_transform transform = output_transform_fit(us, count);
    *ok_count = count;
    free(us);
    return transform;
}

/* Adds the rows, in order, as means by genome. */
static void add_rows(struct source_model *model, const struct source *source) {
    int ok_count;
    const struct output_transform transform = fit_transform(source, &ok_count);
    const double slowest = output_transform_apply(&transform, source->rows[ok_count - 1].us);
    for (int i = 0; i < source->row_count; i++) {
        const struct genome genome = restrict_genome(model, &source->rows[i].genome);
        struct history_entry *entry = history_find(&model->tried, &genome);
        const double value =
            i < ok_count ? output_transform_apply(&transform, source->rows[i].us) : slowest;
        if (entry == NULL)
            entry = history_add(&model->tried, &genome, OPERATOR_SEED);
        entry->trial++;
        entry->score_us += (value - entry->score_us) / (double)entry->trial;
    }
}

static int compare_values(const void *left, const void *right) {
    const struct history_entry *a = left, *b = right;
    if (a->score_us != b->score_us)
        return a->score_us < b->score_us ? -1 : 1;
    return memcmp(&a->genome, &b->genome, sizeof a->genome);
}

/* Keeps `most` of the sorted entries: the fastest for one half, random others for the rest. */
static int subsample(struct history_entry *entries, int count, int most, struct random *random) {
    int kept = most / 2;
    if (count <= most)
        return count;
    for (int i = kept; i < count; i++)
        if (random_below(random, (uint64_t)(count - i)) < (uint64_t)(most - kept))
            entries[kept++] = entries[i];
    return kept;
}

static int split_entries(const struct source_model *model, const struct history_entry *entries,
                         int count, struct genome *genomes, double *values) {
    for (int i = 0; i < count; i++) {
        genomes[i] = entries[i].genome;
        values[i] = (entries[i].score_us - model->mean) / model->deviation;
    }
    return count;
}

static void fit_surrogate(struct source_model *model) {
    int count = (int)model->tried.count;
    struct history_entry *entries = xcalloc((size_t)count, sizeof *entries);
    struct genome *genomes = xcalloc(ROWS, sizeof *genomes);
    double *values = xcalloc(ROWS, sizeof *values), *noises = xcalloc(ROWS, sizeof *noises);
    double square = 0;
    struct random random;
    random_seed(&random, 1, STREAM);
    memcpy(entries, model->tried.entries, (size_t)count * sizeof *entries);
    qsort(entries, (size_t)count, sizeof *entries, compare_values);
    int rows = subsample(entries, count, ROWS, &random);
    for (int i = 0; i < rows; i++)
        model->mean += entries[i].score_us / rows;
    for (int i = 0; i < rows; i++)
        square += pow(entries[i].score_us - model->mean, 2) / rows;
    model->deviation = sqrt(square) + 1e-9;
    split_entries(model, entries, rows, genomes, values);
    struct history_entry *fitted = xcalloc((size_t)rows, sizeof *fitted);
    memcpy(fitted, entries, (size_t)rows * sizeof *fitted);
    int fit_count = subsample(fitted, rows, FIT_MAX, &random);
    split_entries(model, fitted, fit_count, genomes, values);
    surrogate_fit(model->surrogate, genomes, values, noises, fit_count);
    split_entries(model, entries, rows, genomes, values);
    for (int i = 0; i < rows; i++)
        surrogate_add_row(model->surrogate, &genomes[i], 0);
    surrogate_condition(model->surrogate, values);
    free(fitted);
    free(entries);
    free(genomes);
    free(values);
    free(noises);
}

struct source_model *source_model_new(const struct space *space, const struct source *source) {
    struct source_model *model = xcalloc(1, sizeof *model);
    model->space = space;
    model->genes = source->genes;
    model->surrogate = surrogate_new(space);
    add_rows(model, source);
    fit_surrogate(model);
    return model;
}

void source_model_free(struct source_model *model) {
    if (model == NULL)
        return;
    history_release(&model->tried);
    history_release(&model->predicted);
    surrogate_free(model->surrogate);
    free(model);
}

double source_model_value(struct source_model *model, const struct genome *genome) {
    const struct genome known = restrict_genome(model, genome);
    struct history_entry *entry = history_find(&model->tried, &known);
    if (entry == NULL)
        entry = history_find(&model->predicted, &known);
    if (entry == NULL) {
        entry = history_add(&model->predicted, &known, OPERATOR_MODEL);
        entry->score_us =
            model->mean + model->deviation * surrogate_predict(model->surrogate, &known);
    }
    return entry->score_us;
}

bool source_model_has(const struct source_model *model, const struct genome *genome) {
    const struct genome known = restrict_genome(model, genome);
    return history_find(&model->tried, &known) != NULL;
}

const struct surrogate *source_model_surrogate(const struct source_model *model) {
    return model->surrogate;
}
