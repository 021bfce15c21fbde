/*
 * Stands in for the exported kernel NAME (-DNAME=att) of attention_fwd on a machine without a GPU:
 * the launcher's functions on host memory, with the strides that it gets. What a framework's
 * operator hands over is then seen in what it computes. STAND_IN_LARGEST queries are the most that
 * are verified; a call that the launcher would refuse is refused.
 */
#include <math.h>
#include <string.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#define FUNCTION(f) JOIN(NAME, f)
#define QUOTE_(a)   #a
#define QUOTE(a)    QUOTE_(a)
#include QUOTE(HEADER)

enum { NO_ARGUMENT = -1, MISALIGNED = -2, NO_KERNEL = -3, WORKSPACE = -4, UNVERIFIED = -6 };
enum { WORKSPACE_BYTES = 48, STAND_IN_LARGEST = 200 };

int stand_in_calls;
void *stand_in_stream;

static float from_half(uint16_t bits, int bf16) {
    uint32_t word = (uint32_t)bits << 16;
    float value;
    if (!bf16) {
        const uint32_t exponent = bits >> 10 & 31, fraction = bits & 1023;
        if (exponent == 0)
            return (bits >> 15 ? -1.0f : 1.0f) * ldexpf((float)fraction, -24);
        word = (uint32_t)(bits >> 15) << 31 | (exponent == 31 ? 255u : exponent + 112) << 23 |
               fraction << 13;
    }
    memcpy(&value, &word, sizeof value);
    return value;
}

/* Rounds to nearest, for what is neither tiny nor huge. */
static uint16_t to_half(float value, int bf16) {
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    if (bf16)
        return (uint16_t)((word + 0x7fff + (word >> 16 & 1)) >> 16);
    if (fabsf(value) < 6.2e-5f)
        return (uint16_t)((word >> 31) << 15 | (uint32_t)lrintf(ldexpf(fabsf(value), 24)));
    word += 0xfff + (word >> 13 & 1);
    return (uint16_t)((word >> 31) << 15 | ((word >> 13 & 0x3ffff) - (112u << 10)));
}

int64_t FUNCTION(_workspace_bytes)(const struct FUNCTION(_shape) * shape) {
    const int known = shape->D == 64 || shape->D == 32;
    return shape->B > 0 && shape->H > 0 && shape->H_KV > 0 && shape->S > 0 && shape->S_KV > 0 &&
                   known && shape->DV <= shape->D && shape->DV % 32 == 0 && shape->SCALE >= 0 &&
                   shape->H % shape->H_KV == 0 && shape->WINDOW == 0 && shape->SOFT_CAP == 0 &&
                   shape->SINKS == 0
               ? WORKSPACE_BYTES
               : -1;
}

const char *FUNCTION(_error_string)(int status) {
    return status == UNVERIFIED ? "this shape is not verified" : "another error";
}

/* The strides of a tensor whose caller gave none, in elements. */
static void pack(int64_t strides[3], int64_t heads, int64_t rows, int64_t columns) {
    if (strides[0] == 0 && strides[1] == 0 && strides[2] == 0) {
        strides[2] = columns;
        strides[1] = rows * columns;
        strides[0] = heads * rows * columns;
    }
}

static const uint16_t *row_of(const void *tensor, const int64_t strides[3], int64_t b, int64_t h,
                              int64_t row) {
    return (const uint16_t *)tensor + b * strides[0] + h * strides[1] + row * strides[2];
}

static void attend(const struct FUNCTION(_shape) * shape, const struct FUNCTION(_tensors) * tensors,
                   const int64_t strides[4][3], int64_t b, int64_t h, int64_t i) {
    const int bf16 = (int)shape->BF16;
    const int64_t kv = h / (shape->H / shape->H_KV);
    const double scale = shape->SCALE > 0 ? shape->SCALE : 1 / sqrt((double)shape->D);
    const uint16_t *q = row_of(tensors->q, strides[0], b, h, i);
    double sum = 0, largest = -INFINITY, scores[4096], o[256] = {0};
    for (int64_t j = 0; j < shape->S_KV; j++) {
        const uint16_t *k = row_of(tensors->k, strides[1], b, kv, j);
        scores[j] = 0;
        for (int64_t d = 0; d < shape->D; d++)
            scores[j] += (double)from_half(q[d], bf16) * from_half(k[d], bf16);
        scores[j] = shape->CAUSAL && j > i + shape->S_KV - shape->S ? -INFINITY : scores[j] * scale;
        largest = fmax(largest, scores[j]);
    }
    for (int64_t j = 0; j < shape->S_KV; j++) {
        const uint16_t *v = row_of(tensors->v, strides[2], b, kv, j);
        const double weight = exp(scores[j] - largest);
        sum += weight;
        for (int64_t d = 0; d < shape->DV; d++)
            o[d] += weight * from_half(v[d], bf16);
    }
    uint16_t *to = (uint16_t *)row_of(tensors->o, strides[3], b, h, i);
    for (int64_t d = 0; d < shape->DV; d++)
        to[d] = to_half((float)(o[d] / sum), bf16);
    if (shape->LSE)
        ((float *)tensors->lse)[(b * shape->H + h) * shape->S + i] = (float)(largest + log(sum));
}

static int refused(const void *address, const int64_t strides[3]) {
    if (address == NULL)
        return NO_ARGUMENT;
    for (int i = 0; i < 3; i++)
        if (strides[i] < 0 || strides[i] % 8 != 0)
            return MISALIGNED;
    return (uintptr_t)address % 16 != 0 ? MISALIGNED : 0;
}

int FUNCTION(_launch)(const struct FUNCTION(_shape) * shape,
                      const struct FUNCTION(_tensors) * tensors, void *workspace, size_t bytes,
                      cudaStream_t stream) {
    int64_t strides[4][3];
    const void *addresses[4];
    if (FUNCTION(_workspace_bytes)(shape) < 0)
        return NO_KERNEL;
    if (shape->S > STAND_IN_LARGEST || shape->S_KV > 4096)
        return UNVERIFIED;
    if (tensors == NULL)
        return NO_ARGUMENT;
    addresses[0] = tensors->q;
    addresses[1] = tensors->k;
    addresses[2] = tensors->v;
    addresses[3] = tensors->o;
    memcpy(strides[0], tensors->q_strides, sizeof strides[0]);
    memcpy(strides[1], tensors->k_strides, sizeof strides[1]);
    memcpy(strides[2], tensors->v_strides, sizeof strides[2]);
    memcpy(strides[3], tensors->o_strides, sizeof strides[3]);
    if (bytes < WORKSPACE_BYTES || workspace == NULL)
        return WORKSPACE;
    memset(workspace, 0x7f, WORKSPACE_BYTES);
    for (int t = 0; t < 4; t++)
        if (refused(addresses[t], strides[t]) != 0)
            return refused(addresses[t], strides[t]);
    pack(strides[0], shape->H, shape->S, shape->D);
    pack(strides[1], shape->H_KV, shape->S_KV, shape->D);
    pack(strides[2], shape->H_KV, shape->S_KV, shape->DV);
    pack(strides[3], shape->H, shape->S, shape->DV);
    for (int64_t b = 0; b < shape->B; b++)
        for (int64_t h = 0; h < shape->H; h++)
            for (int64_t i = 0; i < shape->S; i++)
                attend(shape, tensors, strides, b, h, i);
    stand_in_calls++;
    stand_in_stream = stream;
    return 0;
}
