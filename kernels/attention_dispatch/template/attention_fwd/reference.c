/*
 * Attention in double precision on the CPU, written independently of the kernels: O =
 * softmax(scale Q K^T) V for each batch and head, and the log-sum-exp of each query. Every KV head
 * serves H / H_KV neighbouring heads. Under a causal mask query i sees key j only if
 * j <= i + S_KV - S, and with a WINDOW only if i + S_KV - S - j < WINDOW. A SOFT_CAP c turns a
 * scaled score s into c tanh(s / c). A head's sink is one more score, of a key without a value. A
 * query without scores gives zeros, and minus infinity. With VARLEN sequence b has rows
 * cu_seqlens[b] to cu_seqlens[b + 1] of the one batch that the tensors hold; S and S_KV stand for
 * its own numbers of rows.
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
    int64_t gap;      /* unused elements after each innermost row; with heads_inside, after the
                         rows of all heads */
};

/* The offset of a row, in elements. */
static int64_t offset(const struct tensor *tensor, int64_t batch, int64_t head, int64_t row) {
    int64_t outer = tensor->heads_inside ? row : head, inner = tensor->heads_inside ? head : row;
    int64_t outer_count = tensor->heads_inside ? tensor->rows : tensor->heads;
    int64_t inner_count = tensor->heads_inside ? tensor->heads : tensor->rows;
    int64_t inner_step = tensor->columns + (tensor->heads_inside ? 0 : tensor->gap);
    int64_t outer_step = inner_count * inner_step + (tensor->heads_inside ? tensor->gap : 0);
    return (batch * outer_count + outer) * outer_step + inner * inner_step;
}

/* The number of elements up to the end of the last row. */
static int64_t extent(const struct tensor *tensor, int64_t batches) {
    return offset(tensor, batches - 1, tensor->heads - 1, tensor->rows - 1) + tensor->columns;
}

static double *to_doubles(const uint16_t *elements, int64_t count, int is_bfloat) {
    double *result = malloc((size_t)count * sizeof *result);
    if (!result)
        abort();
    for (int64_t i = 0; i < count; ++i)
        result[i] = from_element(elements[i], is_bfloat);
    return result;
}

/* The rows of a sequence: `count` of batch `batch`, from `first` on. */
struct rows {
    int64_t batch, first, count;
};

static struct rows rows_of(const int32_t *cu_seqlens, int64_t sequence, int64_t rows) {
    struct rows own = {sequence, 0, rows};
    if (cu_seqlens) {
        own.batch = 0;
        own.first = cu_seqlens[sequence];
        own.count = cu_seqlens[sequence + 1] - own.first;
    }
    return own;
}

/* dimensions: B, H, H_KV, S, S_KV, D, CAUSAL, BF16, BSHD, LSE, SCALE (a float's bits), GAP (of q,
   k), DV, WINDOW, SOFT_CAP, SINKS, VARLEN. tensors: q, k, v as stored, o and (with LSE)
   lse as doubles, (with SINKS) sinks, (with VARLEN) cu_seqlens_q and cu_seqlens_k. */
void attention_fwd_reference(const int64_t *dimensions, void *const *tensors) {
    int64_t sequences = dimensions[0], heads = dimensions[1], kv_heads = dimensions[2];
    int64_t most_queries = dimensions[3], most_keys = dimensions[4], columns = dimensions[5];
    int64_t causal = dimensions[6], values = dimensions[12], window = dimensions[13];
    double cap = (double)dimensions[14];
    int is_bfloat = (int)dimensions[7], heads_inside = (int)dimensions[8];
    const int32_t *q_starts = dimensions[16] ? tensors[6] : NULL;
    const int32_t *k_starts = dimensions[16] ? tensors[7] : NULL;
    int64_t batches = q_starts ? 1 : sequences;
    int64_t q_rows = q_starts ? q_starts[sequences] : most_queries;
    int64_t k_rows = k_starts ? k_starts[sequences] : most_keys;
    struct tensor q_layout = {heads, q_rows, columns, heads_inside, dimensions[11]};
    struct tensor k_layout = {kv_heads, k_rows, columns, heads_inside, dimensions[11]};
    struct tensor v_layout = {kv_heads, k_rows, values, heads_inside, 0};
    struct tensor o_layout = {heads, q_rows, values, heads_inside, 0};
    double scale = from_float_bits((uint32_t)dimensions[10]);
    double *q = to_doubles(tensors[0], extent(&q_layout, batches), is_bfloat);
    double *k = to_doubles(tensors[1], extent(&k_layout, batches), is_bfloat);
    double *v = to_doubles(tensors[2], extent(&v_layout, batches), is_bfloat);
    const float *sinks = dimensions[15] ? tensors[5] : NULL;
    double *o = tensors[3], *lse = dimensions[9] ? tensors[4] : NULL;
    double *probability = malloc((size_t)most_keys * sizeof *probability);

    if (!probability)
        abort();
    if (scale == 0)
        scale = 1 / sqrt((double)columns);
    for (int64_t index = 0; index < sequences * heads * most_queries; ++index) {
        int64_t row = index % most_queries, head = index / most_queries % heads;
        int64_t sequence = index / most_queries / heads, kv_head = head / (heads / kv_heads);
        struct rows own_q = rows_of(q_starts, sequence, most_queries);
        struct rows own_k = rows_of(k_starts, sequence, most_keys);
        if (row >= own_q.count)
            continue;
        int64_t place = own_q.first + row, shift = own_k.count - own_q.count;
        const double *query = q + offset(&q_layout, own_q.batch, head, place);
        double *out = o + offset(&o_layout, own_q.batch, head, place);
        double row_max = -INFINITY, sum = 0;
        int64_t visible_keys = own_k.count, first_key = 0;

        if (causal && row + shift + 1 < visible_keys)
            visible_keys = row + shift + 1;
        if (window && row + shift - window + 1 > 0)
            first_key = row + shift - window + 1;
        for (int64_t d = 0; d < values; ++d)
            out[d] = 0;
        if (sinks)
            row_max = sinks[head];
        for (int64_t j = first_key; j < visible_keys; ++j) {
            const double *key = k + offset(&k_layout, own_k.batch, kv_head, own_k.first + j);
            double dot = 0;
            for (int64_t d = 0; d < columns; ++d)
                dot += query[d] * key[d];
            probability[j] = cap > 0 ? cap * tanh(dot * scale / cap) : dot * scale;
            row_max = fmax(row_max, probability[j]);
        }
        if (sinks && row_max > -INFINITY)
            sum = exp(sinks[head] - row_max);
        for (int64_t j = first_key; j < visible_keys; ++j) {
            const double *value = v + offset(&v_layout, own_k.batch, kv_head, own_k.first + j);
            probability[j] = exp(probability[j] - row_max);
            sum += probability[j];
            for (int64_t d = 0; d < values; ++d)
                out[d] += probability[j] * value[d];
        }
        for (int64_t d = 0; sum > 0 && d < values; ++d)
            out[d] /= sum;
        if (lse)
            lse[(own_q.batch * heads + head) * q_rows + place] =
                sum > 0 ? row_max + log(sum) : -INFINITY;
    }
    free(q);
    free(k);
    free(v);
    free(probability);
}
