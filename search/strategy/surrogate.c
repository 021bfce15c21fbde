#include "strategy/surrogate.h"

#include "base/cholesky.h"
#include "base/error.h"
#include "base/memory.h"
#include "strategy/covariance.h"
#include "strategy/features.h"
#include "strategy/likelihood.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 512 }; /* candidates per block, so that the working set stays in cache */

static const double jitter = 1e-6;

/* With L the Cholesky factor of the rows' covariance matrix and k the covariances of a candidate
   with the rows, the *projection* of the candidate is L^-1 k. Its dot product with L^-1 values
   is the posterior mean, and its squared norm is the explained variance. A new row adds one
   number to each projection. */
struct surrogate {
    const struct space *space;
    struct features features;
    struct likelihood_prior prior;
    double parameters[FEATURES_MAX + 1];
    float weights[FEATURES_MAX]; /* of the squared distances, by feature */
    double noise,
        signal_variance; /* fitted noise relative to the signal variance; the signal variance */

    int row_count;
    struct genome *rows;
    float *row_points;       /* [feature][row] */
    double *factor;          /* [row][row] */
    double noises[ROWS_MAX]; /* known noise of each row, relative to the signal variance */
    double alpha[ROWS_MAX];  /* K^-1 values: the weight of each row's covariance in a mean */
    double posterior_scale;  /* signal variance of the values that the process is conditioned on */

    int candidate_count;
    int projected_count; /* candidates whose projections include all rows */
    struct genome *candidates;
    float *candidate_points; /* [feature][candidate] */
    float *projections;      /* [row][candidate] */
    float *explained, *means, *variances;
};

static void apply_parameters(struct surrogate *surrogate) {
    for (int f = 0; f < surrogate->features.count; f++)
        surrogate->weights[f] = (float)exp(-2 * surrogate->parameters[f]);
    surrogate->noise = exp(surrogate->parameters[surrogate->features.count]);
}

struct surrogate *surrogate_new(const struct space *space) {
    struct surrogate *surrogate = xcalloc(1, sizeof *surrogate);
    surrogate->space = space;
    features_init(&surrogate->features, space);
    likelihood_prior_init(&surrogate->prior, &surrogate->features);
    size_t features = (size_t)surrogate->features.count;
    surrogate->rows = xcalloc(ROWS_MAX, sizeof *surrogate->rows);
    surrogate->row_points = xcalloc(features * ROWS_MAX, sizeof(float));
    surrogate->factor = xcalloc((size_t)ROWS_MAX * ROWS_MAX, sizeof *surrogate->factor);
    surrogate->candidates = xcalloc(CANDIDATES_MAX, sizeof *surrogate->candidates);
    surrogate->candidate_points = xcalloc(features * CANDIDATES_MAX, sizeof(float));
    surrogate->projections = xcalloc((size_t)ROWS_MAX * CANDIDATES_MAX, sizeof(float));
    surrogate->explained = xcalloc(CANDIDATES_MAX, sizeof(float));
    surrogate->means = xcalloc(CANDIDATES_MAX, sizeof(float));
    surrogate->variances = xcalloc(CANDIDATES_MAX, sizeof(float));
    surrogate_reset(surrogate);
    return surrogate;
}

void surrogate_free(struct surrogate *surrogate) {
    if (surrogate == NULL)
        return;
    features_release(&surrogate->features);
    free(surrogate->rows);
    free(surrogate->row_points);
    free(surrogate->factor);
    free(surrogate->candidates);
    free(surrogate->candidate_points);
    free(surrogate->projections);
    free(surrogate->explained);
    free(surrogate->means);
    free(surrogate->variances);
    free(surrogate);
}

void surrogate_clear(struct surrogate *surrogate) {
    surrogate->row_count = surrogate->candidate_count = surrogate->projected_count = 0;
}

void surrogate_reset(struct surrogate *surrogate) {
    surrogate_clear(surrogate);
    likelihood_start(&surrogate->features, &surrogate->prior, surrogate->parameters);
    surrogate->signal_variance = 1;
    apply_parameters(surrogate);
}

void surrogate_learn_scales(struct surrogate *surrogate, const struct surrogate *const *others,
                            int count, double share) {
    double *centres = surrogate->prior.centres;
    likelihood_prior_init(&surrogate->prior, &surrogate->features);
    for (int f = 0; f < surrogate->features.count; f++) {
        const double centre = centres[f];
        for (int i = 0; i < count; i++)
            centres[f] += share * (others[i]->parameters[f] - centre) / count;
    }
}

void surrogate_fit(struct surrogate *surrogate, const struct genome *genomes, const double *values,
                   const double *noises, int count) {
    if (count > FIT_MAX)
        BUG("a fit to %d values", count);
    surrogate_clear(surrogate);
    double signal_variance =
        likelihood_fit(&surrogate->features, &surrogate->prior, genomes, values, noises, count,
                       surrogate->signal_variance, surrogate->parameters);
    surrogate->signal_variance =
        fmax(1, signal_variance); /* with values that are all noise it would shrink without end */
    apply_parameters(surrogate);
}

/* Correlations of a point, whose coordinates are point[f * point_stride], with `count` others,
   whose coordinates begin at others[f * stride]. */
static void correlate(const struct surrogate *surrogate, const float *point, int point_stride,
                      const float *others, int stride, int count, float *correlation) {
    float squared[BLOCK], gradient_factor[BLOCK];
    if (count > BLOCK)
        BUG("%d genomes to compare", count);
    for (int i = 0; i < count; i++)
        squared[i] = 0;
    for (int f = 0; f < surrogate->features.count; f++)
        features_add_squared(&surrogate->features.rows[f], others + (size_t)f * (size_t)stride,
                             point[(size_t)f * (size_t)point_stride], surrogate->weights[f], count,
                             squared);
    covariance_matern(squared, count, correlation, gradient_factor);
}

/* to -= sum of rows * factor, four rows at a time while there are four. */
static void subtract_rows(float *restrict to, const float *from, const double *factor, int rows,
                          int count) {
    int k = 0;
    for (; k + 4 <= rows; k += 4, from += 4 * (size_t)CANDIDATES_MAX) {
        const float *restrict a = from, *restrict b = a + CANDIDATES_MAX;
        const float *restrict c = b + CANDIDATES_MAX, *restrict d = c + CANDIDATES_MAX;
        float w = (float)factor[k], x = (float)factor[k + 1];
        float y = (float)factor[k + 2], z = (float)factor[k + 3];
        for (int i = 0; i < count; i++)
            to[i] -= (w * a[i] + x * b[i]) + (y * c[i] + z * d[i]);
    }
    for (; k < rows; k++, from += CANDIDATES_MAX) {
        float w = (float)factor[k];
        for (int i = 0; i < count; i++)
            to[i] -= w * from[i];
    }
}

/* Computes one row of the projections for a block of candidates; the rows above must be up to
   date. */
static void project_row(struct surrogate *surrogate, int row, int first, int count) {
    const double *factor = surrogate->factor + (size_t)row * ROWS_MAX;
    float *to = surrogate->projections + (size_t)row * CANDIDATES_MAX + first;
    float *explained = surrogate->explained + first;
    correlate(surrogate, surrogate->row_points + row, ROWS_MAX, surrogate->candidate_points + first,
              CANDIDATES_MAX, count, to);
    subtract_rows(to, surrogate->projections + first, factor, row, count);
    float scale = (float)(1 / factor[row]);
    for (int i = 0; i < count; i++) {
        to[i] *= scale;
        explained[i] += to[i] * to[i];
    }
}

static int block_size(int first, int end) {
    return end - first < BLOCK ? end - first : BLOCK;
}

/* Computes the projections of the candidates that were added since the last call. */
static void project_new_candidates(struct surrogate *surrogate) {
    int end = surrogate->candidate_count;
    for (int first = surrogate->projected_count; first < end; first += BLOCK) {
        int count = block_size(first, end);
        memset(surrogate->explained + first, 0, (size_t)count * sizeof *surrogate->explained);
        for (int row = 0; row < surrogate->row_count; row++)
            project_row(surrogate, row, first, count);
    }
    surrogate->projected_count = end;
}

bool surrogate_add_row(struct surrogate *surrogate, const struct genome *genome, double noise) {
    int row = surrogate->row_count;
    double *factor = surrogate->factor + (size_t)row * ROWS_MAX;
    float correlation[ROWS_MAX];
    if (row == ROWS_MAX)
        return false;
    _Static_assert((int)ROWS_MAX <= (int)BLOCK, "rows are compared as one block");
    surrogate->rows[row] = *genome;
    features_locate(&surrogate->features, genome, surrogate->row_points + row, ROWS_MAX);
    correlate(surrogate, surrogate->row_points + row, ROWS_MAX, surrogate->row_points, ROWS_MAX,
              row, correlation);
    for (int i = 0; i < row; i++)
        factor[i] = correlation[i];
    surrogate->noises[row] = noise / surrogate->signal_variance;
    factor[row] = 1 + surrogate->noise + surrogate->noises[row] + jitter;
    /* Rounding can make this fail for a genome that differs from another in no feature. */
    if (cholesky_row(surrogate->factor, ROWS_MAX, row) < 0)
        factor[row] = sqrt(jitter);
    surrogate->row_count++;
    for (int first = 0; first < surrogate->projected_count; first += BLOCK)
        project_row(surrogate, row, first, block_size(first, surrogate->projected_count));
    return true;
}

bool surrogate_add_candidate(struct surrogate *surrogate, const struct genome *genome) {
    int index = surrogate->candidate_count;
    if (index == CANDIDATES_MAX)
        return false;
    surrogate->candidates[index] = *genome;
    features_locate(&surrogate->features, genome, surrogate->candidate_points + index,
                    CANDIDATES_MAX);
    surrogate->candidate_count++;
    return true;
}

void surrogate_whiten(const struct surrogate *surrogate, const double *values, double *whitened) {
    for (int row = 0; row < surrogate->row_count; row++) {
        const double *factor = surrogate->factor + (size_t)row * ROWS_MAX;
        /* 0: exactly the mean that the previous rows predict */
        whitened[row] = isnan(values[row])
                            ? 0
                            : (values[row] - cholesky_dot(factor, whitened, row)) / factor[row];
    }
}

void surrogate_condition(struct surrogate *surrogate, const double *values) {
    double whitened[ROWS_MAX], square = 0;
    int known = 0, candidates = surrogate->candidate_count;
    project_new_candidates(surrogate);
    memset(surrogate->means, 0, (size_t)candidates * sizeof *surrogate->means);
    surrogate_whiten(surrogate, values, whitened);
    for (int row = 0; row < surrogate->row_count; row++) {
        square += whitened[row] * whitened[row];
        known += !isnan(values[row]);
    }
    for (int row = 0; row < surrogate->row_count; row++) {
        const float *projections = surrogate->projections + (size_t)row * CANDIDATES_MAX;
        float weight = (float)whitened[row];
        for (int i = 0; i < candidates && weight != 0; i++)
            surrogate->means[i] += weight * projections[i];
    }
    memcpy(surrogate->alpha, whitened, (size_t)surrogate->row_count * sizeof *whitened);
    cholesky_backward(surrogate->factor, ROWS_MAX, surrogate->row_count, surrogate->alpha);
    surrogate->posterior_scale = fmax(known > 0 ? square / known : 1, 1e-6);
    float signal_variance = (float)surrogate->posterior_scale;
    float prior = (float)(1 + surrogate->noise);
    for (int i = 0; i < candidates; i++) {
        float left = prior - surrogate->explained[i];
        surrogate->variances[i] = signal_variance * (left > 1e-8f ? left : 1e-8f);
    }
}

int surrogate_row_count(const struct surrogate *surrogate) {
    return surrogate->row_count;
}

int surrogate_parameter_count(const struct surrogate *surrogate) {
    return surrogate->features.count + 1;
}

int surrogate_candidate_count(const struct surrogate *surrogate) {
    return surrogate->candidate_count;
}

const struct genome *surrogate_candidate(const struct surrogate *surrogate, int index) {
    return &surrogate->candidates[index];
}

const float *surrogate_means(const struct surrogate *surrogate) {
    return surrogate->means;
}

const float *surrogate_variances(const struct surrogate *surrogate) {
    return surrogate->variances;
}

double surrogate_denoise(const struct surrogate *surrogate, int row, double value) {
    return value - surrogate->noises[row] * surrogate->alpha[row];
}

double surrogate_predict(const struct surrogate *surrogate, const struct genome *genome) {
    float correlation[ROWS_MAX], point[FEATURES_MAX];
    double sum = 0;
    features_locate(&surrogate->features, genome, point, 1);
    correlate(surrogate, point, 1, surrogate->row_points, ROWS_MAX, surrogate->row_count,
              correlation);
    for (int row = 0; row < surrogate->row_count; row++)
        sum += surrogate->alpha[row] * correlation[row];
    return sum;
}

/* Covariances of a genome's value with those of the rows; returns whether the genome is a row. */
static bool covary_with_rows(const struct surrogate *surrogate, const struct genome *genome,
                             double *covariances) {
    float correlation[ROWS_MAX], point[FEATURES_MAX];
    bool is_row = false;
    features_locate(&surrogate->features, genome, point, 1);
    correlate(surrogate, point, 1, surrogate->row_points, ROWS_MAX, surrogate->row_count,
              correlation);
    for (int row = 0; row < surrogate->row_count; row++) {
        const bool same = genome_equal(&surrogate->rows[row], genome);
        covariances[row] = correlation[row] + (same ? surrogate->noise : 0);
        is_row = is_row || same;
    }
    return is_row;
}

struct surrogate_difference surrogate_compare(const struct surrogate *surrogate,
                                              const struct genome *from, const struct genome *to) {
    double first[ROWS_MAX], second[ROWS_MAX];
    float points[2][FEATURES_MAX], correlation;
    struct surrogate_difference difference = {0};
    const int rows = surrogate->row_count;
    difference.measured = covary_with_rows(surrogate, from, first);
    difference.measured = covary_with_rows(surrogate, to, second) && difference.measured;
    for (int row = 0; row < rows; row++) {
        difference.from += first[row] * surrogate->alpha[row];
        second[row] -= first[row];
        difference.mean += second[row] * surrogate->alpha[row];
    }
    features_locate(&surrogate->features, from, points[0], 1);
    features_locate(&surrogate->features, to, points[1], 1);
    correlate(surrogate, points[1], 1, points[0], 1, 1, &correlation);
    cholesky_forward(surrogate->factor, ROWS_MAX, rows, second);
    double left = genome_equal(from, to) ? 0 : 2 * (1 + surrogate->noise - correlation);
    left -= cholesky_dot(second, second, rows);
    /* Of two rows their known noise remains, which is relative to the signal variance of the fit.
     */
    const double scale =
        difference.measured ? surrogate->signal_variance : surrogate->posterior_scale;
    difference.deviation = sqrt(scale * fmax(left, 0));
    return difference;
}

void surrogate_leave_one_out(const struct surrogate *surrogate, double *deviates) {
    const size_t size = (size_t)ROWS_MAX * (size_t)surrogate->row_count;
    double *inverse = xmalloc(2 * (size + 1) * sizeof *inverse);
    cholesky_inverse(surrogate->factor, ROWS_MAX, surrogate->row_count, inverse, inverse + size);
    for (int row = 0; row < surrogate->row_count; row++)
        deviates[row] = surrogate->alpha[row] / sqrt(surrogate->posterior_scale *
                                                     inverse[(size_t)row * ROWS_MAX + (size_t)row]);
    free(inverse);
}

void surrogate_correlations(struct surrogate *surrogate, const struct genome *genome, int first,
                            float *correlations) {
    int end = surrogate->candidate_count;
    float point[FEATURES_MAX];
    features_locate(&surrogate->features, genome, point, 1);
    for (int at = first; at < end; at += BLOCK)
        correlate(surrogate, point, 1, surrogate->candidate_points + at, CANDIDATES_MAX,
                  block_size(at, end), correlations + at - first);
}
