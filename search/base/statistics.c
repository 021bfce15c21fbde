#include "base/statistics.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

static int compare_doubles(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

double statistics_percentile(const double *samples, int count, double percent) {
    if (count < 1 || !(percent >= 0 && percent <= 100))
        BUG("percentile %g of %d samples", percent, count);
    double *sorted = xmalloc((size_t)count * sizeof *sorted);
    memcpy(sorted, samples, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_doubles);
    double position = percent / 100 * (count - 1);
    int below = (int)position;
    double value = sorted[below];
    if (below + 1 < count)
        value += (position - below) * (sorted[below + 1] - sorted[below]);
    free(sorted);
    if (!isfinite(value))
        BUG("a sample is not finite");
    return value;
}

double statistics_median(const double *samples, int count) {
    return statistics_percentile(samples, count, 50);
}

void statistics_median_interval(const double *samples, int count, double *low, double *high) {
    double away = 1.96 * sqrt(count) / 2;
    double below = floor((count - 1) / 2.0 - away);
    double share = below > 0 ? 100 * below / (count - 1) : 0;
    *low = statistics_percentile(samples, count, share);
    *high = statistics_percentile(samples, count, 100 - share);
}

double statistics_weighted_geometric_mean(const double *values, const double *weights, int count) {
    if (count < 1)
        BUG("the mean of %d values", count);
    double sum = 0, total = 0;
    for (int i = 0; i < count; i++) {
        const double weight = weights != NULL ? weights[i] : 1;
        if (!(values[i] > 0 && isfinite(values[i])))
            BUG("value %d of a geometric mean is %g", i, values[i]);
        if (!(weight > 0 && isfinite(weight)))
            BUG("weight %d of a geometric mean is %g", i, weight);
        sum += weight * log(values[i]);
        total += weight;
    }
    return exp(sum / total);
}

double statistics_geometric_mean(const double *values, int count) {
    return statistics_weighted_geometric_mean(values, NULL, count);
}

double statistics_mean(const double *values, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += values[i];
    return sum / count;
}

void statistics_bootstrap_mean(const double *values, int count, double confidence, int resamples,
                               struct random *random, double *low, double *high) {
    if (count < 1 || resamples < 1 || !(confidence > 0 && confidence < 1))
        BUG("a bootstrap of %d values, %d times, at %g", count, resamples, confidence);
    double *means = xmalloc((size_t)resamples * sizeof *means);
    for (int r = 0; r < resamples; r++) {
        double sum = 0;
        for (int i = 0; i < count; i++)
            sum += values[random_below(random, (uint64_t)count)];
        means[r] = sum / count;
    }
    /* Resampling reproduces the spread of the values about their own mean, which is too small by a
       factor of sqrt((count - 1) / count); with ten values the correction matters. */
    double mean = statistics_mean(values, count);
    double widen = count > 1 ? sqrt((double)count / (count - 1)) : 1;
    double tail = 50 * (1 - confidence);
    *low = mean + widen * (statistics_percentile(means, resamples, tail) - mean);
    *high = mean + widen * (statistics_percentile(means, resamples, 100 - tail) - mean);
    free(means);
}

struct ranked {
    double value;
    int index;
};

static int compare_ranked(const void *left, const void *right) {
    const struct ranked *a = left, *b = right;
    return a->value < b->value ? -1 : a->value > b->value ? 1 : a->index - b->index;
}

static void assign_ranks(const double *values, int count, struct ranked *order, double *ranks) {
    for (int i = 0; i < count; i++)
        order[i] = (struct ranked){values[i], i};
    qsort(order, (size_t)count, sizeof *order, compare_ranked);
    for (int i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && order[end].value == order[i].value;)
            end++;
        for (int j = i; j < end; j++)
            ranks[order[j].index] = (i + end - 1) / 2.0;
    }
}

double statistics_rank_correlation(const double *first, const double *second, int count) {
    if (count < 2)
        BUG("a rank correlation of %d values", count);
    struct ranked *order = xmalloc((size_t)count * sizeof *order);
    double *a = xmalloc((size_t)count * sizeof *a), *b = xmalloc((size_t)count * sizeof *b);
    assign_ranks(first, count, order, a);
    assign_ranks(second, count, order, b);
    double mean_rank = (count - 1) / 2.0, covariance = 0, square_a = 0, square_b = 0;
    for (int i = 0; i < count; i++) {
        covariance += (a[i] - mean_rank) * (b[i] - mean_rank);
        square_a += (a[i] - mean_rank) * (a[i] - mean_rank);
        square_b += (b[i] - mean_rank) * (b[i] - mean_rank);
    }
    free(order);
    free(a);
    free(b);
    return square_a > 0 && square_b > 0 ? covariance / sqrt(square_a * square_b) : 0;
}

double statistics_student_99(int freedom) {
    const double z = 2.5758293, n = freedom, square = z * z;
    if (freedom < STUDENT_FREEDOM_MIN)
        return INFINITY;
    return z * (1 + (square + 1) / (4 * n) + ((5 * square + 16) * square + 3) / (96 * n * n) +
                (((3 * square + 19) * square + 17) * square - 15) / (384 * n * n * n));
}
