#include "strategy/likelihood.h"

#include "base/cholesky.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/minimise.h"
#include "strategy/covariance.h"

#include <math.h>
#include <stdlib.h>

enum { ITERATIONS = 8 };

/* Bounds of a parameter, and the centre and deviation of its normal prior. */
struct parameter_prior {
    double lower, upper, centre, deviation;
};

/* Length scales within a factor of two, shorter than the domain where there is one feature. Between
   two random genomes the distances of all features add up, so the centre grows with the root of
   their number: otherwise genomes of many genes would look unrelated (Hvarfner, Hellsten and Nardi,
   "Vanilla Bayesian optimization performs great in high dimensions", 2024). A noise that is small
   beside the signal. */
static const struct parameter_prior scale_prior = {-3, 3, -0.2, 0.7};
static const struct parameter_prior noise_prior = {-12, -1, -6, 1.5};

static const double jitter =
    1e-6; /* keeps the covariance matrix positive definite despite rounding */

struct likelihood_problem {
    const struct features *features;
    const struct likelihood_prior *prior;
    float *points;                 /* [feature][count] */
    const double *values, *noises; /* variances */
    int count;
    double signal_variance;           /* the noises are relative to this */
    double least_cost, fitted_signal; /* the least cost so far, and the signal variance there */
    double *covariance, *inverse, *work;
    float *gradient_factor;
};

void likelihood_prior_init(struct likelihood_prior *prior, const struct features *features) {
    for (int f = 0; f < FEATURES_MAX; f++)
        prior->centres[f] = scale_prior.centre + 0.5 * log(fmax(1, features->count));
    prior->deviation = scale_prior.deviation;
}

static struct parameter_prior prior_of(const struct features *features,
                                       const struct likelihood_prior *prior, int parameter) {
    struct parameter_prior scale = scale_prior;
    if (parameter == features->count)
        return noise_prior;
    scale.centre = fmin(fmax(prior->centres[parameter], scale.lower), scale.upper);
    scale.deviation = prior->deviation;
    return scale;
}

void likelihood_start(const struct features *features, const struct likelihood_prior *prior,
                      double *parameters) {
    for (int p = 0; p <= features->count; p++)
        parameters[p] = prior_of(features, prior, p).centre;
}

static void fill_covariance(const struct likelihood_problem *problem, const double *parameters) {
    const struct features *features = problem->features;
    int count = problem->count;
    double noise = exp(parameters[features->count]);
    float *squared = xcalloc(2 * (size_t)count, sizeof *squared), *correlation = squared + count;
    for (int i = 0; i < count; i++) {
        double *row = problem->covariance + (size_t)i * (size_t)count;
        for (int j = 0; j < i; j++)
            squared[j] = 0;
        for (int f = 0; f < features->count; f++) {
            const float *coordinates = problem->points + f * count;
            features_add_squared(&features->rows[f], coordinates, coordinates[i],
                                 (float)exp(-2 * parameters[f]), i, squared);
        }
        covariance_matern(squared, i, correlation,
                          problem->gradient_factor + (size_t)i * (size_t)count);
        for (int j = 0; j < i; j++)
            row[j] = correlation[j];
        row[i] = 1 + noise + problem->noises[i] / problem->signal_variance + jitter;
    }
    free(squared);
}

/* Adds the gradient of the likelihood, from the inverse of the covariance matrix K and alpha =
   K^-1 values. */
static void add_gradient(const struct likelihood_problem *problem, const double *parameters,
                         const double *alpha, double signal_variance, double *gradient) {
    const struct features *features = problem->features;
    int count = problem->count;
    double noise = exp(parameters[features->count]);
    float *row_weights = xmalloc(2 * (size_t)count * sizeof *row_weights);
    float *squared = row_weights + count;
    for (int i = 0; i < count; i++) {
        const double *inverse = problem->inverse + (size_t)i * (size_t)count;
        const float *gradient_factor = problem->gradient_factor + (size_t)i * (size_t)count;
        gradient[features->count] +=
            0.5 * (inverse[i] - alpha[i] * alpha[i] / signal_variance) * noise;
        for (int j = 0; j < i; j++)
            row_weights[j] =
                (float)(inverse[j] - alpha[i] * alpha[j] / signal_variance) * gradient_factor[j];
        for (int f = 0; f < features->count; f++) {
            const float *coordinates = problem->points + f * count;
            float sums[4] = {0};
            int j = 0;
            for (int k = 0; k < i; k++)
                squared[k] = 0;
            features_add_squared(&features->rows[f], coordinates, coordinates[i], 1, i, squared);
            for (; j + 4 <= i; j += 4)
                for (int lane = 0; lane < 4; lane++)
                    sums[lane] += row_weights[j + lane] * squared[j + lane];
            for (; j < i; j++)
                sums[0] += row_weights[j] * squared[j];
            gradient[f] += exp(-2 * parameters[f]) * ((sums[0] + sums[1]) + (sums[2] + sums[3]));
        }
    }
    free(row_weights);
}

static double evaluate_cost(const double *parameters, double *gradient, void *context) {
    struct likelihood_problem *problem = context;
    int count = problem->count;
    double value = 0, square = 0;
    fill_covariance(problem, parameters);
    for (int i = 0; i < count; i++) {
        if (cholesky_row(problem->covariance, count, i) < 0)
            return INFINITY;
        value += log(problem->covariance[(size_t)i * (size_t)count + (size_t)i]);
    }
    for (int p = 0; p <= problem->features->count; p++) {
        const struct parameter_prior prior = prior_of(problem->features, problem->prior, p);
        double offset = (parameters[p] - prior.centre) / prior.deviation;
        value += 0.5 * offset * offset;
        gradient[p] = offset / prior.deviation;
    }
    double *alpha = xmalloc((size_t)count * sizeof *alpha);
    for (int i = 0; i < count; i++)
        alpha[i] = problem->values[i];
    cholesky_forward(problem->covariance, count, count, alpha);
    for (int i = 0; i < count; i++)
        square += alpha[i] * alpha[i];
    double signal_variance = fmax(square / count, 1e-12);
    cholesky_backward(problem->covariance, count, count, alpha);
    cholesky_inverse(problem->covariance, count, count, problem->inverse, problem->work);
    add_gradient(problem, parameters, alpha, signal_variance, gradient);
    free(alpha);
    value += 0.5 * count * log(signal_variance);
    if (value < problem->least_cost) {
        problem->least_cost = value;
        problem->fitted_signal = signal_variance;
    }
    return value;
}

static void likelihood_problem_init(struct likelihood_problem *problem,
                                    const struct features *features,
                                    const struct likelihood_prior *prior,
                                    const struct genome *genomes, const double *values,
                                    const double *noises, int count, double signal_variance) {
    size_t square = (size_t)count * (size_t)count;
    *problem = (struct likelihood_problem){
        .features = features,
        .prior = prior,
        .points = xmalloc((size_t)features->count * (size_t)count * sizeof(float)),
        .values = values,
        .noises = noises,
        .count = count,
        .signal_variance = signal_variance,
        .least_cost = INFINITY,
        .fitted_signal = signal_variance,
        .covariance = xmalloc(square * sizeof(double)),
        .inverse = xmalloc(square * sizeof(double)),
        .work = xmalloc(square * sizeof(double)),
        .gradient_factor = xmalloc(square * sizeof(float))};
    for (int i = 0; i < count; i++)
        features_locate(features, &genomes[i], problem->points + i, count);
}

static void likelihood_problem_release(struct likelihood_problem *problem) {
    free(problem->points);
    free(problem->covariance);
    free(problem->inverse);
    free(problem->work);
    free(problem->gradient_factor);
}

double likelihood_cost(const struct features *features, const struct likelihood_prior *prior,
                       const struct genome *genomes, const double *values, const double *noises,
                       int count, double signal_variance, const double *parameters,
                       double *gradient) {
    struct likelihood_problem problem;
    likelihood_problem_init(&problem, features, prior, genomes, values, noises, count,
                            signal_variance);
    double value = evaluate_cost(parameters, gradient, &problem);
    likelihood_problem_release(&problem);
    return value;
}

double likelihood_fit(const struct features *features, const struct likelihood_prior *prior,
                      const struct genome *genomes, const double *values, const double *noises,
                      int count, double signal_variance, double *parameters) {
    struct likelihood_problem problem;
    double lower[FEATURES_MAX + 1], upper[FEATURES_MAX + 1];
    for (int p = 0; p <= features->count; p++) {
        lower[p] = prior_of(features, prior, p).lower;
        upper[p] = prior_of(features, prior, p).upper;
    }
    likelihood_problem_init(&problem, features, prior, genomes, values, noises, count,
                            signal_variance);
    minimise(features->count + 1, parameters, lower, upper, ITERATIONS, evaluate_cost, &problem);
    likelihood_problem_release(&problem);
    return problem.fitted_signal;
}
