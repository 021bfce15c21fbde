#include "analysis/gene_importance.h"

#include <math.h>
#include <string.h>

#include "base/cholesky.h"
#include "base/memory.h"

enum { UNKNOWNS_MAX = 640, TRIALS_LEAST = 20 };

/* Ridge penalty: weight, in trials, of the prior that a value is like all others. */
static const double prior_count = 0.01;

/* Latencies that differ by less than a part in 10^8 count as equal. */
static const double variance_least = 1e-16;

struct additive_fit {
    const struct run_data *run;
    const int *rows; /* row indices */
    int row_count;
    int unknowns;
    int first[GENES_MAX]; /* by gene: the unknown of its first value; -1: not fitted */
    double mean, variance;
    double *counts; /* trials by unknown */
    double *factor; /* Cholesky factor of the centred normal matrix */
    double *solution;
    double residual_variance;
    double *residuals; /* by row */
};

static double log_us(const struct additive_fit *fit, int row) {
    return log(fit->run->rows[fit->rows[row]].score_us);
}

/* The unknown of the gene's value in a row. */
static int unknown_at(const struct additive_fit *fit, int row, int gene) {
    return fit->first[gene] + fit->run->rows[fit->rows[row]].genes[gene];
}

/* ---- the fit ---- */

/* Numbers the unknowns of every gene, or of one alone (`only` not -1). */
static void choose_unknowns(struct additive_fit *fit, int only) {
    const struct genes *genes = &fit->run->genes;
    for (int g = 0; g < genes->count; g++) {
        int count = genes->columns[g].count;
        bool fits = (only < 0 || only == g) && count > 1 && count <= IMPORTANCE_VALUES_MAX &&
                    fit->unknowns + count <= UNKNOWNS_MAX;
        fit->first[g] = fits ? fit->unknowns : -1;
        fit->unknowns += fits ? count : 0;
    }
}

/* Sums over rows: the co-occurrences of two unknowns, and the log latency of each. */
static void sum_rows(struct additive_fit *fit, double *co_occurrences, double *sums) {
    int n = fit->unknowns, gene_count = fit->run->genes.count;
    for (int row = 0; row < fit->row_count; row++) {
        int at[GENES_MAX], count = 0;
        for (int g = 0; g < gene_count; g++)
            if (fit->first[g] >= 0)
                at[count++] = unknown_at(fit, row, g);
        double y = log_us(fit, row) - fit->mean;
        fit->variance += y * y / fit->row_count;
        for (int i = 0; i < count; i++) {
            sums[at[i]] += y;
            for (int k = 0; k <= i; k++)
                co_occurrences[at[i] * n + at[k]]++;
        }
    }
}

static void solve_fit(struct additive_fit *fit) {
    int n = fit->unknowns;
    fit->factor = xcalloc((size_t)n * (size_t)n, sizeof(double));
    fit->solution = xcalloc((size_t)n, sizeof(double));
    fit->counts = xcalloc((size_t)n, sizeof(double));
    for (int row = 0; row < fit->row_count; row++)
        fit->mean += log_us(fit, row) / fit->row_count;
    sum_rows(fit, fit->factor, fit->solution);
    for (int i = 0; i < n; i++)
        fit->counts[i] = fit->factor[i * n + i];
    for (int i = 0; i < n; i++) {
        for (int k = 0; k <= i; k++)
            fit->factor[i * n + k] -= fit->counts[i] * fit->counts[k] / fit->row_count;
        fit->factor[i * n + i] += prior_count;
    }
    for (int i = 0; i < n; i++)
        if (cholesky_row(fit->factor, n, i) < 0)
            BUG("the normal matrix of %d trials has no factor", fit->row_count);
    cholesky_forward(fit->factor, n, n, fit->solution);
    cholesky_backward(fit->factor, n, n, fit->solution);
}

static void find_residuals(struct additive_fit *fit) {
    double shift = 0, sum = 0;
    fit->residuals = xcalloc((size_t)fit->row_count, sizeof(double));
    for (int i = 0; i < fit->unknowns; i++)
        shift += fit->counts[i] * fit->solution[i] / fit->row_count;
    for (int row = 0; row < fit->row_count; row++) {
        double left = log_us(fit, row) - fit->mean + shift;
        for (int g = 0; g < fit->run->genes.count; g++)
            if (fit->first[g] >= 0)
                left -= fit->solution[unknown_at(fit, row, g)];
        fit->residuals[row] = left;
        sum += left * left;
    }
    int freedom = fit->row_count - fit->unknowns;
    fit->residual_variance = sum / (freedom > 1 ? freedom : 1);
}

/* ---- costs ---- */

static struct value_cost cost_of(double log_cost, double deviation, double width, double count) {
    return (struct value_cost){expm1(log_cost), expm1(log_cost - width * deviation),
                               expm1(log_cost + width * deviation), (int)count, 0};
}

/* The half-width, in standard deviations, of a normal interval that misses once in `odds` cases. */
static double interval_width(double odds) {
    double low = 0, high = 40;
    while (high - low > 1e-6) {
        double middle = (low + high) / 2;
        if (erfc(middle / sqrt(2)) * odds > 1)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* A weighted sum of unknowns, with its interval. */
static struct value_cost weighted_cost(const struct additive_fit *fit, double *weights,
                                       double count) {
    double value = 0;
    for (int i = 0; i < fit->unknowns; i++)
        value += weights[i] * fit->solution[i];
    cholesky_forward(fit->factor, fit->unknowns, fit->unknowns, weights);
    double deviation = sqrt(fit->residual_variance * cholesky_dot(weights, weights, fit->unknowns));
    return cost_of(value, deviation, interval_width(100), count);
}

static void compute_gene(const struct additive_fit *fit, int gene, struct gene_cost *importance) {
    int first = fit->first[gene], count = fit->run->genes.columns[gene].count;
    double *weights = xcalloc((size_t)fit->unknowns, sizeof(double));
    importance->fitted = true;
    importance->best = importance->worst = -1;
    for (int v = 0; v < count; v++) {
        memset(weights, 0, (size_t)fit->unknowns * sizeof(double));
        for (int w = 0; w < count; w++)
            weights[first + w] = (w == v) - fit->counts[first + w] / fit->row_count;
        struct value_cost *it = &importance->values[v];
        int failed = it->failed;
        *it = weighted_cost(fit, weights, fit->counts[first + v]);
        it->failed = failed;
        importance->share += it->count * pow(log1p(it->cost), 2) / fit->row_count / fit->variance;
        if (it->count < IMPORTANCE_TRIALS_MIN)
            continue;
        if (importance->best < 0 || it->cost < importance->values[importance->best].cost)
            importance->best = v;
        if (importance->worst < 0 || it->cost > importance->values[importance->worst].cost)
            importance->worst = v;
    }
    if (importance->best >= 0) {
        memset(weights, 0, (size_t)fit->unknowns * sizeof(double));
        weights[first + importance->worst] += 1;
        weights[first + importance->best] -= 1;
        importance->spread = weighted_cost(fit, weights, fit->counts[first + importance->worst]);
    }
    free(weights);
}

/* ---- pairs ---- */

struct pair_cell {
    double count, sum;
};

/* Finds the strongest interaction of values of two genes; returns false if none is significant. */
static bool find_strongest(const struct additive_fit *fit, int a, int b, double width,
                           struct pair_cell *cells, struct pair_cost *pair) {
    int counts[2] = {fit->run->genes.columns[a].count, fit->run->genes.columns[b].count};
    double best = 0;
    memset(cells, 0, (size_t)(counts[0] * counts[1]) * sizeof *cells);
    for (int row = 0; row < fit->row_count; row++) {
        const uint8_t *genes = fit->run->rows[fit->rows[row]].genes;
        struct pair_cell *cell = &cells[genes[a] * counts[1] + genes[b]];
        cell->count++;
        cell->sum += fit->residuals[row];
    }
    for (int i = 0; i < counts[0] * counts[1]; i++) {
        if (cells[i].count < IMPORTANCE_TRIALS_MIN)
            continue;
        double mean = cells[i].sum / cells[i].count;
        double deviation = sqrt(fit->residual_variance / cells[i].count);
        if (fabs(mean) <= width * deviation || fabs(mean) <= best)
            continue;
        best = fabs(mean);
        *pair = (struct pair_cost){{a, b},
                                   {i / counts[1], i % counts[1]},
                                   cost_of(mean, deviation, width, cells[i].count)};
    }
    return best > 0;
}

static void insert_pair(struct gene_importance *importance, const struct pair_cost *pair) {
    int at = importance->pair_count;
    double strength = fabs(log1p(pair->cost.cost));
    while (at > 0 && fabs(log1p(importance->pairs[at - 1].cost.cost)) < strength)
        at--;
    if (at == PAIRS_MAX)
        return;
    int moved =
        importance->pair_count < PAIRS_MAX ? importance->pair_count - at : PAIRS_MAX - 1 - at;
    memmove(&importance->pairs[at + 1], &importance->pairs[at], (size_t)moved * sizeof *pair);
    importance->pairs[at] = *pair;
    importance->pair_count += importance->pair_count < PAIRS_MAX;
}

static void find_pairs(const struct additive_fit *fit, struct gene_importance *importance) {
    const struct genes *genes = &fit->run->genes;
    double looked_at = 0;
    for (int a = 0; a < genes->count; a++)
        for (int b = 0; b < a; b++)
            if (fit->first[a] >= 0 && fit->first[b] >= 0)
                looked_at += genes->columns[a].count * genes->columns[b].count;
    double width = interval_width(100 * fmax(looked_at, 1));
    struct pair_cell *cells = xcalloc(IMPORTANCE_VALUES_MAX * IMPORTANCE_VALUES_MAX, sizeof *cells);
    for (int a = 0; a < genes->count; a++)
        for (int b = a + 1; b < genes->count; b++) {
            struct pair_cost pair;
            if (fit->first[a] >= 0 && fit->first[b] >= 0 &&
                find_strongest(fit, a, b, width, cells, &pair))
                insert_pair(importance, &pair);
        }
    free(cells);
}

/* ---- a goal ---- */

static int *valid_rows(const struct run_data *run, int goal, struct gene_importance *importance,
                       int *count) {
    int *rows = xcalloc((size_t)run->goals[goal].valid, sizeof *rows);
    *count = 0;
    for (int i = 0; i < run->count; i++) {
        const struct trial_row *row = &run->rows[i];
        if (row->goal != goal || row->outdated || row->verdict == VERDICT_FILTERED ||
            row->verdict == VERDICT_LOST)
            continue;
        if (!isnan(row->score_us)) {
            rows[(*count)++] = i;
            continue;
        }
        for (int g = 0; g < run->genes.count; g++)
            if (row->genes[g] < IMPORTANCE_VALUES_MAX)
                importance->genes[g].values[row->genes[g]].failed++;
    }
    return rows;
}

static void release_fit(struct additive_fit *fit) {
    free(fit->counts);
    free(fit->factor);
    free(fit->solution);
    free(fit->residuals);
    fit->counts = fit->factor = fit->solution = fit->residuals = NULL;
}

/* Solves the fit; returns false if there are too few trials or no variance. */
static bool solve_and_check(struct additive_fit *fit) {
    if (fit->row_count < TRIALS_LEAST || fit->unknowns == 0)
        return false;
    solve_fit(fit);
    if (!(fit->variance > variance_least))
        return false;
    find_residuals(fit);
    return true;
}

static void add_gene(const struct additive_fit *fit, int gene, struct gene_importance *importance) {
    compute_gene(fit, gene, &importance->genes[gene]);
    int at = importance->fitted_count++;
    for (; at > 0 && importance->genes[importance->order[at - 1]].spread.low <
                         importance->genes[gene].spread.low;
         at--)
        importance->order[at] = importance->order[at - 1];
    importance->order[at] = gene;
}

static void fit_together(struct additive_fit *fit, struct gene_importance *importance) {
    if (!solve_and_check(fit))
        return;
    for (int row = 0; row < fit->row_count; row++)
        importance->explained += pow(fit->residuals[row], 2) / fit->row_count / fit->variance;
    importance->explained = 1 - importance->explained;
    for (int g = 0; g < importance->gene_count; g++)
        if (fit->first[g] >= 0)
            add_gene(fit, g, importance);
    find_pairs(fit, importance);
}

static void fit_alone(const struct additive_fit *whole, struct gene_importance *importance) {
    importance->alone = true;
    for (int g = 0; g < importance->gene_count; g++) {
        struct additive_fit fit = {
            .run = whole->run, .rows = whole->rows, .row_count = whole->row_count};
        choose_unknowns(&fit, g);
        if (solve_and_check(&fit))
            add_gene(&fit, g, importance);
        release_fit(&fit);
    }
}

struct gene_importance *gene_importance_new(const struct run_data *run, int goal) {
    struct gene_importance *importance = xcalloc(1, sizeof *importance);
    struct additive_fit fit = {.run = run};
    int *rows = valid_rows(run, goal, importance, &fit.row_count);
    fit.rows = rows;
    importance->count = fit.row_count;
    importance->gene_count = run->genes.count;
    choose_unknowns(&fit, -1);
    if (fit.row_count >= 2 * fit.unknowns)
        fit_together(&fit, importance);
    else
        fit_alone(&fit, importance);
    release_fit(&fit);
    free(rows);
    if (importance->fitted_count > 0)
        return importance;
    free(importance);
    return NULL;
}

void gene_importance_free(struct gene_importance *importance) {
    free(importance);
}
