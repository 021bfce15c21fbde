/*
 * Attention in double precision on the CPU, written without a look at the kernels: O = softmax(Q
 * K^T / sqrt(D)) V for each batch and head; under a causal mask query i sees key j only if j <= i +
 * S_KV - S, and a query that sees no key gives zeros.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static double from_half(uint16_t bits) {
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double magnitude = exponent == 31  ? (fraction ? NAN : INFINITY)
                       : exponent == 0 ? ldexp(fraction, -24)
                                       : ldexp(fraction + 1024, exponent - 25);
    return bits >> 15 ? -magnitude : magnitude;
}

/* dimensions: B, H, S, S_KV, D, CAUSAL. tensors: q, k, v as halves, o as doubles. */
void attention_fwd_reference(const int64_t *dimensions, void *const *tensors) {
    int64_t heads = dimensions[0] * dimensions[1], queries = dimensions[2], keys = dimensions[3];
    int64_t columns = dimensions[4], causal = dimensions[5];
    const uint16_t *q = tensors[0], *k = tensors[1], *v = tensors[2];
    double *o = tensors[3];
    int64_t words = heads * keys * columns;
    double *k_wide = malloc(words * sizeof *k_wide), *v_wide = malloc(words * sizeof *v_wide);
    double *weight = malloc(keys * sizeof *weight), *query = malloc(columns * sizeof *query);

    if (!k_wide || !v_wide || !weight || !query)
        abort();
    for (int64_t n = 0; n < words; ++n) {
        k_wide[n] = from_half(k[n]);
        v_wide[n] = from_half(v[n]);
    }
    for (int64_t row = 0; row < heads * queries; ++row) {
        int64_t head = row / queries, seen = keys;
        const double *key = k_wide + head * keys * columns, *value = v_wide + head * keys * columns;
        double *out = o + row * columns, largest = -INFINITY, sum = 0;

        if (causal && row % queries + keys - queries + 1 < seen)
            seen = row % queries + keys - queries + 1;
        for (int64_t d = 0; d < columns; ++d) {
            query[d] = from_half(q[row * columns + d]);
            out[d] = 0;
        }
        for (int64_t j = 0; j < seen; ++j) {
            double dot = 0;
            for (int64_t d = 0; d < columns; ++d)
                dot += query[d] * key[j * columns + d];
            weight[j] = dot / sqrt((double)columns);
            largest = fmax(largest, weight[j]);
        }
        for (int64_t j = 0; j < seen; ++j) {
            weight[j] = exp(weight[j] - largest);
            sum += weight[j];
            for (int64_t d = 0; d < columns; ++d)
                out[d] += weight[j] * value[j * columns + d];
        }
        for (int64_t d = 0; seen > 0 && d < columns; ++d)
            out[d] /= sum;
    }
    free(k_wide);
    free(v_wide);
    free(weight);
    free(query);
}
