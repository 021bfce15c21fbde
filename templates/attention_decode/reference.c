/*
 * Attention over a cache of keys in double precision on the CPU, written independently of the
 * kernels: O = softmax(scale Q K^T) V for each query of each head of each sequence, and the
 * log-sum-exp. Key j of a sequence is row j % ROWS of page table[j / ROWS]. Every KV head serves
 * H / H_KV neighbouring heads. Under a causal mask query i sees key j only if
 * j <= i + length - S; a query without visible keys gives zeros, and minus infinity.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static float from_float_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A number of one sign bit, `exponent_bits` of exponent and `fraction_bits` of fraction. */
static double from_bits(uint32_t bits, int exponent_bits, int fraction_bits) {
    uint32_t fraction = bits & ((1u << fraction_bits) - 1);
    int exponent = (int)(bits >> fraction_bits & ((1u << exponent_bits) - 1));
    int bias = (1 << (exponent_bits - 1)) - 1;
    double magnitude =
        exponent == 0 ? ldexp(fraction, 1 - bias - fraction_bits)
                      : ldexp(fraction + (1u << fraction_bits), exponent - bias - fraction_bits);
    return bits >> (exponent_bits + fraction_bits) & 1 ? -magnitude : magnitude;
}

enum kind { KIND_F16, KIND_BF16, KIND_E4M3 };

/* All elements that a cache's rows of tokens hold are finite, and so are those of Q. */
static double element_of(const void *tensor, int64_t index, enum kind kind) {
    if (kind == KIND_E4M3)
        return from_bits(((const uint8_t *)tensor)[index], 4, 3);
    uint16_t bits = ((const uint16_t *)tensor)[index];
    return kind == KIND_BF16 ? from_float_bits((uint32_t)bits << 16) : from_bits(bits, 5, 10);
}

/* dimensions: B, H, H_KV, S, S_KV, D, PAGE, RAGGED, CAUSAL, BF16, FP8, BSHD, LSE, SCALE (a float's
   bits). tensors: q, k, v (without FP8), k8, v8, k_scale, v_scale (with FP8), lengths, page_table
   (with PAGE) as stored; o and (with LSE) lse as doubles. */
void attention_decode_reference(const int64_t *dimensions, void *const *tensors) {
    int64_t heads = dimensions[1], kv_heads = dimensions[2], queries = dimensions[3];
    int64_t columns = dimensions[5], paged = dimensions[6] > 0, causal = dimensions[8];
    int64_t rows = paged ? dimensions[6] : dimensions[4];
    int64_t pages = (dimensions[4] + rows - 1) / rows, heads_inside = dimensions[11];
    enum kind kind = dimensions[9] ? KIND_BF16 : KIND_F16;
    enum kind cache_kind = dimensions[10] ? KIND_E4M3 : kind;
    const float *k_scale = tensors[5], *v_scale = tensors[6];
    const int32_t *lengths = tensors[7], *page_table = tensors[8];
    const void *cache_k = tensors[dimensions[10] ? 3 : 1];
    const void *cache_v = tensors[dimensions[10] ? 4 : 2];
    double *probability = malloc((size_t)dimensions[4] * sizeof *probability);
    int64_t *first = malloc((size_t)dimensions[4] * sizeof *first);
    double scale = from_float_bits((uint32_t)dimensions[13]);

    if (!probability || !first)
        abort();
    if (scale == 0)
        scale = 1 / sqrt((double)columns);
    for (int64_t index = 0; index < dimensions[0] * heads * queries; ++index) {
        int64_t query = index % queries, head = index / queries % heads;
        int64_t sequence = index / queries / heads, kv_head = head / (heads / kv_heads);
        int64_t row = heads_inside ? (sequence * queries + query) * heads + head : index;
        int64_t end = lengths[sequence];
        double *out = (double *)tensors[9] + row * columns, row_max = -INFINITY, sum = 0;
        double k_factor = dimensions[10] ? k_scale[kv_head] : 1;
        double v_factor = dimensions[10] ? v_scale[kv_head] : 1;

        if (causal)
            end += query + 1 - queries;
        for (int64_t j = 0; j < end; ++j) {
            int64_t page = paged ? page_table[sequence * pages + j / rows] : sequence;
            double dot = 0;
            first[j] = columns * (heads_inside ? (page * rows + j % rows) * kv_heads + kv_head
                                               : (page * kv_heads + kv_head) * rows + j % rows);
            for (int64_t d = 0; d < columns; ++d)
                dot += element_of(tensors[0], row * columns + d, kind) *
                       element_of(cache_k, first[j] + d, cache_kind);
            probability[j] = dot * k_factor * scale;
            row_max = fmax(row_max, probability[j]);
        }
        for (int64_t d = 0; d < columns; ++d)
            out[d] = 0;
        for (int64_t j = 0; j < end; ++j) {
            probability[j] = exp(probability[j] - row_max);
            sum += probability[j];
            for (int64_t d = 0; d < columns; ++d)
                out[d] += probability[j] * element_of(cache_v, first[j] + d, cache_kind);
        }
        for (int64_t d = 0; end > 0 && d < columns; ++d)
            out[d] *= v_factor / sum;
        if (dimensions[12])
            ((double *)tensors[10])[index] = end > 0 ? row_max + log(sum) : -INFINITY;
    }
    free(probability);
    free(first);
}
