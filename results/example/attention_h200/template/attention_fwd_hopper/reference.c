/*
 * Attention in double precision on the CPU, written without a look at the kernels: O =
 * softmax(scale Q K^T) V for each batch and head, and the logarithm of each query's sum of
 * exponentials. H / H_KV neighbouring heads share the keys of one. Under a causal mask query i sees
 * key j only if j <= i + S_KV - S; a query that sees no key gives zeros, and minus infinity.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static double from_half(uint16_t bits) {
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double magnitude = exponent == 31  ? (fraction ? NAN : INFINITY)
                       : exponent == 0 ? ldexp(fraction, -24)
                                       : ldexp(fraction + 1024, exponent - 25);
    return bits >> 15 ? -magnitude : magnitude;
}

static float from_float_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double from_element(uint16_t bits, int is_bfloat) {
    return is_bfloat ? from_float_bits((uint32_t)bits << 16) : from_half(bits);
}

struct tensor {
    int64_t heads, rows, columns;
    int heads_inside; /* [batch, row, head, column] rather than [batch, head, row, column] */
    int64_t gap;      /* elements after each innermost row that are not the tensor's; with
                         heads_inside, after those of all heads */
};

/* Where a row begins. */
static int64_t offset(const struct tensor *tensor, int64_t batch, int64_t head, int64_t row) {
    int64_t outer = tensor->heads_inside ? row : head, inner = tensor->heads_inside ? head : row;
    int64_t outer_count = tensor->heads_inside ? tensor->rows : tensor->heads;
    int64_t inner_count = tensor->heads_inside ? tensor->heads : tensor->rows;
    int64_t inner_step = tensor->columns + (tensor->heads_inside ? 0 : tensor->gap);
    int64_t outer_step = inner_count * inner_step + (tensor->heads_inside ? tensor->gap : 0);
    return (batch * outer_count + outer) * outer_step + inner * inner_step;
}

/* How many elements there are up to the end of the last row. */
static int64_t extent(const struct tensor *tensor, int64_t batches) {
    return offset(tensor, batches - 1, tensor->heads - 1, tensor->rows - 1) + tensor->columns;
}

static double *wide(const uint16_t *elements, int64_t count, int is_bfloat) {
    double *result = malloc((size_t)count * sizeof *result);
    if (!result)
        abort();
    for (int64_t i = 0; i < count; ++i)
        result[i] = from_element(elements[i], is_bfloat);
    return result;
}

/* dimensions: B, H, H_KV, S, S_KV, D, CAUSAL, BF16, BSHD, LSE, SCALE (a float's bits), GAP (of q, k).
   tensors: q, k, v as stored, o and (with LSE) lse as doubles. */
void attention_fwd_reference(const int64_t *dimensions, void *const *tensors) {
    int64_t batches = dimensions[0], heads = dimensions[1], kv_heads = dimensions[2];
    int64_t queries = dimensions[3], keys = dimensions[4], columns = dimensions[5];
    int64_t causal = dimensions[6];
    int is_bfloat = (int)dimensions[7], heads_inside = (int)dimensions[8];
    struct tensor of_queries = {heads, queries, columns, heads_inside, dimensions[11]};
    struct tensor of_keys = {kv_heads, keys, columns, heads_inside, dimensions[11]};
    struct tensor of_values = {kv_heads, keys, columns, heads_inside, 0};
    struct tensor of_output = {heads, queries, columns, heads_inside, 0};
    double scale = from_float_bits((uint32_t)dimensions[10]);
    double *q = wide(tensors[0], extent(&of_queries, batches), is_bfloat);
    double *k = wide(tensors[1], extent(&of_keys, batches), is_bfloat);
    double *v = wide(tensors[2], extent(&of_values, batches), is_bfloat);
    double *o = tensors[3], *lse = dimensions[9] ? tensors[4] : NULL;
    double *weight = malloc((size_t)keys * sizeof *weight);

    if (!weight)
        abort();
    if (scale == 0)
        scale = 1 / sqrt((double)columns);
    for (int64_t line = 0; line < batches * heads * queries; ++line) {
        int64_t row = line % queries, head = line / queries % heads;
        int64_t batch = line / queries / heads, kv_head = head / (heads / kv_heads);
        const double *query = q + offset(&of_queries, batch, head, row);
        double *out = o + offset(&of_output, batch, head, row), largest = -INFINITY, sum = 0;
        int64_t seen = keys;

        if (causal && row + keys - queries + 1 < seen)
            seen = row + keys - queries + 1;
        for (int64_t d = 0; d < columns; ++d)
            out[d] = 0;
        for (int64_t j = 0; j < seen; ++j) {
            const double *key = k + offset(&of_keys, batch, kv_head, j);
            double dot = 0;
            for (int64_t d = 0; d < columns; ++d)
                dot += query[d] * key[d];
            weight[j] = dot * scale;
            largest = fmax(largest, weight[j]);
        }
        for (int64_t j = 0; j < seen; ++j) {
            const double *value = v + offset(&of_values, batch, kv_head, j);
            weight[j] = exp(weight[j] - largest);
            sum += weight[j];
            for (int64_t d = 0; d < columns; ++d)
                out[d] += weight[j] * value[d];
        }
        for (int64_t d = 0; seen > 0 && d < columns; ++d)
            out[d] /= sum;
        if (lse)
            lse[line] = seen > 0 ? largest + log(sum) : -INFINITY;
    }
    free(q);
    free(k);
    free(v);
    free(weight);
}
