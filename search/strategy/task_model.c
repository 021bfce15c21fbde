#include "strategy/task_model.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "strategy/candidate_pool.h"
#include "strategy/history.h"
#include "strategy/task_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    STREAM = 0x7461736b,
    ELITES = 8,            /* of all sources, whose neighbours are candidates */
    BEST_OF_A_SOURCE = 40, /* candidates */
    CHECKED_ROWS = 16,     /* of a source, by which predictions at its task are checked */
};

static const double interval_deviations = 2;

/* A genome is chosen by its mean and so many deviations. Most of the deviation is the task's, and
   all genomes share it: what remains between two of them is a small part. Over recorded tasks 4, 8
   and 16 choose as well (docs/measurements/strategies.md). */
static const double caution = 8;

struct task_model {
    const struct space *space;
    const struct source *sources;
    const struct task *tasks;
    int count;
    struct task target;
    struct space *joint; /* the genes, then the features that vary, as genes of real numbers */
    int feature_of[GENES_MAX]; /* by gene of `joint`: its feature; -1: a gene of the space */
    struct surrogate *surrogate;
    struct task_rows *rows;
    double mean, deviation; /* of the drawn rows' values */
    double task_error;      /* of predictions at a task by the sources of others */
    struct history failed;  /* genomes that failed somewhere */
};

/* ---- the space of genes and features ---- */

static void add_gene(struct space *joint, const struct space *space, const struct gene *gene) {
    struct error error = {0};
    const char *labels[DOMAIN_MAX];
    int status;
    for (int i = 0; i < gene->count && !gene->ordered; i++)
        labels[i] = space->symbols.labels[gene->values[i]];
    if (gene->real)
        status = space_add_reals(joint, gene->name, "", gene->reals, gene->count, 0, NULL, &error);
    else if (gene->ordered)
        status =
            space_add_integers(joint, gene->name, "", gene->values, gene->count, 0, NULL, &error);
    else
        status = space_add_labels(joint, gene->name, "", labels, gene->count, 0, NULL, &error);
    if (status < 0)
        BUG("gene %s of a sealed space: %s", gene->name, error.text);
}

static int compare_numbers(const void *left, const void *right) {
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The distinct values of a feature, in order. */
static int feature_domain(const struct task_model *model, int feature,
                          double values[SOURCES_MAX + 1]) {
    int count = 0;
    for (int s = 0; s <= model->count; s++)
        values[s] = (s < model->count ? &model->tasks[s] : &model->target)->features[feature];
    qsort(values, (size_t)model->count + 1, sizeof *values, compare_numbers);
    for (int s = 0; s <= model->count; s++)
        if (count == 0 || values[s] > values[count - 1])
            values[count++] = values[s];
    return count;
}

static void make_joint_space(struct task_model *model) {
    struct error error = {0};
    model->joint = space_new();
    for (int g = 0; g < model->space->gene_count; g++) {
        add_gene(model->joint, model->space, &model->space->genes[g]);
        model->feature_of[g] = -1;
    }
    for (int f = 0; f < TASK_FEATURES_MAX && model->joint->gene_count < GENES_MAX; f++) {
        double values[SOURCES_MAX + 1];
        char name[NAME_SIZE];
        const int count = feature_domain(model, f, values);
        if (count < 2)
            continue;
        snprintf(name, sizeof name, "task_feature_%d", f);
        model->feature_of[model->joint->gene_count] = f;
        if (space_add_reals(model->joint, name, "", values, count, 0, NULL, &error) < 0)
            BUG("feature %d: %s", f, error.text);
    }
    if (space_seal(model->joint, &error) < 0)
        BUG("%s", error.text);
}

/* A genome at a task, as a genome of the joint space. */
static struct genome place_genome(const struct task_model *model, const struct genome *genome,
                                  const struct task *task) {
    struct genome placed = *genome;
    for (int g = model->space->gene_count; g < model->joint->gene_count; g++) {
        const struct gene *gene = &model->joint->genes[g];
        for (int i = 0; i < gene->count; i++)
            if (gene->reals[i] == task->features[model->feature_of[g]])
                placed.value[g] = (uint8_t)i;
    }
    return placed;
}

/* ---- rows ---- */

static void add_failures(struct task_model *model, const struct source *source) {
    for (int i = task_rows_ok(source); i < source->row_count; i++)
        if (history_find(&model->failed, &source->rows[i].genome) == NULL)
            history_add(&model->failed, &source->rows[i].genome, OPERATOR_SEED);
}

static struct genome place_row(const struct task_model *model, int row) {
    return place_genome(model, &task_rows_at(model->rows, row)->genome,
                        &model->tasks[model->rows->items[row].source]);
}

static void standardise(struct task_model *model) {
    double square = 0;
    const struct task_rows *rows = model->rows;
    for (int i = 0; i < rows->count; i++)
        model->mean += rows->items[i].value / rows->count;
    for (int i = 0; i < rows->count; i++)
        square += pow(rows->items[i].value - model->mean, 2) / rows->count;
    model->deviation = sqrt(square) + 1e-9;
}

static double standardised(const struct task_model *model, int row) {
    return (model->rows->items[row].value - model->mean) / model->deviation;
}

/* Every n-th row, so that each source has its part in the fit. */
static void fit_surrogate(struct task_model *model) {
    struct genome *genomes = xcalloc(ROWS_MAX, sizeof *genomes);
    double *values = xcalloc(ROWS_MAX, sizeof *values), *noises = xcalloc(ROWS_MAX, sizeof *noises);
    const int step = (model->rows->count + FIT_MAX - 1) / FIT_MAX;
    int fitted = 0;
    for (int i = 0; i < model->rows->count; i += step, fitted++) {
        genomes[fitted] = place_row(model, i);
        values[fitted] = standardised(model, i);
    }
    surrogate_fit(model->surrogate, genomes, values, noises, fitted);
    free(genomes);
    free(values);
    free(noises);
}

static bool same_task(const struct task *a, const struct task *b) {
    return memcmp(a->features, b->features, sizeof a->features) == 0;
}

/* The mean difference between what the sources of other tasks predict of a source's fastest rows
   and these, by the logarithm of latency. Returns false if there are no others. */
static bool error_at(struct task_model *model, int left_out, double *error) {
    const struct task_rows *rows = model->rows;
    double values[ROWS_MAX], actual[CHECKED_ROWS];
    int row_count = 0, checked = 0;
    surrogate_clear(model->surrogate);
    for (int i = 0; i < rows->count; i++) {
        const int source = rows->items[i].source;
        const struct genome placed = place_row(model, i);
        if (!same_task(&model->tasks[source], &model->tasks[left_out])) {
            surrogate_add_row(model->surrogate, &placed, 0);
            values[row_count++] = standardised(model, i);
        } else if (source == left_out && checked < CHECKED_ROWS) {
            surrogate_add_candidate(model->surrogate, &placed);
            actual[checked++] = standardised(model, i);
        }
    }
    if (row_count == 0)
        return false;
    surrogate_condition(model->surrogate, values);
    const float *means = surrogate_means(model->surrogate);
    *error = 0;
    for (int i = 0; i < checked; i++)
        *error += model->deviation * (means[i] - actual[i]) / checked;
    return true;
}

/* Few tasks say little of the length scales of their features, so that the process is too sure at a
   task that it has not seen. How wrong it is shows where one task is left out. */
static void find_task_error(struct task_model *model) {
    double square = 0, error;
    int count = 0;
    for (int s = 0; s < model->count; s++)
        if (same_task(&model->tasks[s], &model->target))
            return;
    for (int s = 0; s < model->count; s++)
        if (error_at(model, s, &error)) {
            square += error * error;
            count++;
        }
    model->task_error = count > 0 ? sqrt(square / count) : 0;
}

struct task_model *task_model_new(const struct space *space, const struct source *sources,
                                  const struct task *tasks, int count, const struct task *target) {
    struct task_model *model = xcalloc(1, sizeof *model);
    if (count < 1 || count > SOURCES_MAX)
        BUG("a model of %d sources", count);
    *model = (struct task_model){
        .space = space, .sources = sources, .tasks = tasks, .count = count, .target = *target};
    make_joint_space(model);
    model->rows = task_rows_new(space, sources, tasks, count);
    for (int s = 0; s < count; s++)
        add_failures(model, &sources[s]);
    standardise(model);
    model->surrogate = surrogate_new(model->joint);
    fit_surrogate(model);
    find_task_error(model);
    return model;
}

void task_model_free(struct task_model *model) {
    if (model == NULL)
        return;
    surrogate_free(model->surrogate);
    task_rows_free(model->rows);
    space_free(model->joint);
    history_release(&model->failed);
    free(model);
}

/* ---- the suggestion ---- */

static void add_candidates(struct task_model *model, uint64_t seed) {
    struct candidate_pool *pool = candidate_pool_new(model->space);
    const struct uniform_draws draws = {.seed = seed, .stream = STREAM};
    struct genome elites[ELITES] = {0};
    struct random random;
    int elite_count = 0;
    random_seed(&random, seed, STREAM);
    for (int rank = 0; rank < ELITES; rank++)
        for (int s = 0; s < model->count && elite_count < ELITES; s++)
            if (rank < task_rows_ok(&model->sources[s]) &&
                space_check(model->space, &model->sources[s].rows[rank].genome, NULL))
                elites[elite_count++] = model->sources[s].rows[rank].genome;
    candidate_pool_refill(pool, &random, &draws, elites, elite_count);
    for (int s = 0; s < model->count; s++)
        for (int rank = 0; rank < BEST_OF_A_SOURCE && rank < task_rows_ok(&model->sources[s]);
             rank++)
            if (space_check(model->space, &model->sources[s].rows[rank].genome, NULL))
                candidate_pool_add(pool, &model->sources[s].rows[rank].genome);
    for (int i = 0; i < candidate_pool_count(pool); i++) {
        const struct genome *genome = candidate_pool_genome(pool, i);
        if (history_find(&model->failed, genome) != NULL || i == CANDIDATES_MAX - 1)
            continue; /* the last place is explain_by_trials's */
        const struct genome placed = place_genome(model, genome, &model->target);
        surrogate_add_candidate(model->surrogate, &placed);
    }
    candidate_pool_free(pool);
}

static void condition(struct task_model *model) {
    double *values = xcalloc(ROWS_MAX, sizeof *values);
    for (int i = 0; i < model->rows->count; i++)
        values[i] = standardised(model, i);
    surrogate_condition(model->surrogate, values);
    free(values);
}

static int choose_candidate(const struct task_model *model) {
    const float *means = surrogate_means(model->surrogate),
                *variances = surrogate_variances(model->surrogate);
    double least = INFINITY;
    int chosen = -1;
    for (int i = 0; i < surrogate_candidate_count(model->surrogate); i++) {
        const double bound = means[i] + caution * sqrt(variances[i]);
        if (bound < least) {
            least = bound;
            chosen = i;
        }
    }
    return chosen;
}

/* The drawn rows are few of those that there are, and the genome that is best by them may have been
   measured, or one like it, and found slow. So what is chosen is looked at: the results nearest to
   it are added, until one is chosen that has been looked at. */
static int choose_with_care(struct task_model *model) {
    bool looked_at[CANDIDATES_MAX] = {false};
    int chosen = choose_candidate(model);
    while (chosen >= 0 && !looked_at[chosen]) {
        const struct genome genome = *surrogate_candidate(model->surrogate, chosen);
        const int first = model->rows->count;
        looked_at[chosen] = true;
        if (task_rows_add_near(model->rows, &genome) == 0)
            break;
        for (int i = first; i < model->rows->count; i++) {
            const struct genome placed = place_row(model, i);
            surrogate_add_row(model->surrogate, &placed, 0);
        }
        condition(model);
        chosen = choose_candidate(model);
    }
    return chosen;
}

/* Adds a trial to the most correlated ones; a source has one of them while others have none. */
static void add_near(struct suggestion *suggestion, const struct near_trial *trial) {
    struct near_trial *nearest = suggestion->nearest;
    int at = suggestion->near_count;
    for (int i = 0; i < suggestion->near_count; i++)
        if (nearest[i].source == trial->source) {
            if (nearest[i].correlation >= trial->correlation)
                return;
            memmove(&nearest[i], &nearest[i + 1],
                    (size_t)(suggestion->near_count - i - 1) * sizeof *nearest);
            at = --suggestion->near_count;
        }
    if (at == SUGGESTION_NEAREST && nearest[at - 1].correlation >= trial->correlation)
        return;
    for (at = at == SUGGESTION_NEAREST ? at - 1 : at;
         at > 0 && nearest[at - 1].correlation < trial->correlation; at--)
        nearest[at] = nearest[at - 1];
    nearest[at] = *trial;
    if (suggestion->near_count < SUGGESTION_NEAREST)
        suggestion->near_count++;
}

/* What the prediction rests on. The suggestion is the last candidate. */
static void explain_by_trials(struct task_model *model, struct suggestion *suggestion) {
    const int last = surrogate_candidate_count(model->surrogate) - 1;
    double sum = 0;
    for (int i = 0; i < model->rows->count; i++) {
        const struct source_row *row = task_rows_at(model->rows, i);
        const int source = model->rows->items[i].source;
        const struct genome placed = place_row(model, i);
        float correlation;
        surrogate_correlations(model->surrogate, &placed, last, &correlation);
        suggestion->shares[source] += correlation;
        sum += correlation;
        add_near(suggestion, &(struct near_trial){source, row->genome, row->us, correlation});
    }
    for (int s = 0; s < model->count && sum > 0; s++)
        suggestion->shares[s] /= sum;
}

static double predict_log(const struct task_model *model, const struct genome *genome) {
    const struct genome placed = place_genome(model, genome, &model->target);
    return model->mean + model->deviation * surrogate_predict(model->surrogate, &placed);
}

static void add_gene_cost(struct suggestion *suggestion, struct deciding_gene cost) {
    int at = suggestion->gene_count;
    if (at == SUGGESTION_GENES && suggestion->genes[--at].ratio >= cost.ratio)
        return;
    for (; at > 0 && suggestion->genes[at - 1].ratio < cost.ratio; at--)
        suggestion->genes[at] = suggestion->genes[at - 1];
    suggestion->genes[at] = cost;
    if (suggestion->gene_count < SUGGESTION_GENES)
        suggestion->gene_count++;
}

static void explain_by_genes(const struct task_model *model, struct suggestion *suggestion) {
    const double base = predict_log(model, &suggestion->genome);
    for (int g = 0; g < model->space->gene_count; g++) {
        struct deciding_gene best = {.gene = g, .ratio = INFINITY};
        for (int v = 0; v < model->space->genes[g].count; v++) {
            struct genome other = suggestion->genome;
            other.value[g] = (uint8_t)v;
            genome_canonicalise(&other, model->space);
            if (genome_equal(&other, &suggestion->genome) || other.value[g] != v ||
                !space_check(model->space, &other, NULL))
                continue;
            const double ratio = exp(predict_log(model, &other) - base);
            if (ratio < best.ratio)
                best = (struct deciding_gene){g, v, ratio};
        }
        if (isfinite(best.ratio) && best.ratio > 1)
            add_gene_cost(suggestion, best);
    }
}

bool task_model_suggest(struct task_model *model, uint64_t seed, struct suggestion *suggestion) {
    *suggestion = (struct suggestion){0};
    surrogate_clear(model->surrogate);
    for (int i = 0; i < model->rows->count; i++) {
        const struct genome placed = place_row(model, i);
        surrogate_add_row(model->surrogate, &placed, 0);
    }
    add_candidates(model, seed);
    condition(model);
    const int chosen = choose_with_care(model);
    if (chosen < 0)
        return false;
    const struct genome placed = *surrogate_candidate(model->surrogate, chosen);
    memcpy(suggestion->genome.value, placed.value, (size_t)model->space->gene_count);
    const double mean = model->mean + model->deviation * surrogate_means(model->surrogate)[chosen];
    const double deviation = hypot(
        model->deviation * sqrt(surrogate_variances(model->surrogate)[chosen]), model->task_error);
    suggestion->us = pow(model->target.scale_us, model->rows->power) * exp(mean);
    suggestion->low_us = suggestion->us * exp(-interval_deviations * deviation);
    suggestion->high_us = suggestion->us * exp(interval_deviations * deviation);
    explain_by_genes(model, suggestion);
    surrogate_add_candidate(model->surrogate, &placed);
    explain_by_trials(model, suggestion);
    return true;
}
