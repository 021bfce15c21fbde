/*
 * mma and wgmma: both builds of the lane functions compared with an independent implementation of
 * the summation in integers.
 */
/* required before cmocka.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ptx/forms/bench.h"
#include "ptx/forms/matrices.h"
#include "ptx/lanes.h"

/* ---- sums in integers ---- */

/* significand 2^(exponent - 23) */
struct summand {
    int64_t significand;
    int exponent;
};

static struct summand summand_of(float number, int least) {
    uint32_t bits = float_bits(number);
    int field = (int)(bits >> 23 & 0xff);
    int64_t significand = (bits & 0x7fffff) | (field ? 1 << 23 : 0);
    int exponent = (field ? field : 1) - 127;
    if (significand && exponent < least) {
        significand >>= least - exponent;
        exponent = least;
    }
    return (struct summand){bits >> 31 ? -significand : significand, exponent};
}

static int least_exponent(enum matrix_format format) {
    return format == MATRIX_E4M3 ? -6 : format == MATRIX_F16 || format == MATRIX_E5M2 ? -14 : -126;
}

/* Shifts right, rounding towards zero. */
static int64_t shift_right_truncating(int64_t number, int right) {
    uint64_t magnitude = (uint64_t)llabs(number);
    magnitude = right > 63 ? 0 : magnitude >> right;
    return number < 0 ? -(int64_t)magnitude : (int64_t)magnitude;
}

/* total 2^unit, rounded towards zero to fp32 with that many digits, or to a value that rounds to
   f16 like it. */
static float narrow_sum(int64_t total, int unit, int digits, bool half) {
    uint64_t magnitude = (uint64_t)llabs(total), lost = 0;
    for (; magnitude >> (digits + 1) || unit < -126 - digits; unit++, magnitude >>= 1)
        lost |= magnitude & 1;
    double value = ldexp((double)(magnitude | (half && lost)), unit);
    return (float)(total < 0 ? -value : value);
}

static float exact_sum(const float *left, const float (*right)[MMA_COLUMNS_MAX], int column,
                       float sum, const struct matrix_shape *shape) {
    bool is_short = shape->left >= MATRIX_E4M3;
    int bits = is_short ? 13 : 25, most = -10000;
    struct summand of[MMA_DEPTH_MAX + 1] = {summand_of(sum, -126)};
    bool is_open = !isfinite(sum);
    double open = sum;
    of[0].significand *= 1 << 23;
    for (int k = 0; k < shape->k; k++) {
        struct summand a = summand_of(left[k], least_exponent(shape->left));
        struct summand b = summand_of(right[k][column], least_exponent(shape->right));
        of[k + 1] = (struct summand){a.significand * b.significand, a.exponent + b.exponent};
        is_open |= !isfinite(left[k]) || !isfinite(right[k][column]);
        open += (double)left[k] * right[k][column];
    }
    if (is_open)
        return (float)open;
    for (int i = 0; i <= shape->k; i++)
        if (of[i].significand && of[i].exponent > most)
            most = of[i].exponent;
    int64_t total = 0;
    for (int i = 0; i <= shape->k; i++)
        if (of[i].significand)
            total += shift_right_truncating(of[i].significand, 46 - bits + most - of[i].exponent);
    int digits = is_short && !shape->half_accumulators ? 13 : 23;
    return total ? narrow_sum(total, most - bits, digits, shape->half_accumulators) : 0;
}

static void fill(const struct lanes *lanes, float *out, size_t count, enum matrix_format format,
                 int variant, uint64_t *random) {
    static const enum type types[] = {[MATRIX_F16] = TYPE_F16,
                                      [MATRIX_BF16] = TYPE_BF16,
                                      [MATRIX_TF32] = TYPE_F32,
                                      [MATRIX_E4M3] = TYPE_B32,
                                      [MATRIX_E5M2] = TYPE_B32};
    bool is_small = format >= MATRIX_E4M3;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = operand_number(types[format], is_small ? KIND_FP8 : KIND_MATRIX,
                                       32 * variant, operand_random(random));
        if (format == MATRIX_TF32)
            out[i] = bits_float((uint32_t)bits & ~0x1fffu);
        else
            lanes->widen(&out[i], &bits, 1, format);
        if (operand_random(random) % 16 == 0)
            out[i] = 0;
    }
}

/* With digits beyond tf32's precision. */
static void fill_sums(float *out, size_t count, int variant, uint64_t *random) {
    for (size_t i = 0; i < count; i++)
        out[i] = operand_random(random) % 16 == 0
                     ? 0
                     : bits_float((uint32_t)operand_number(TYPE_F32, KIND_MATRIX, 32 * variant,
                                                           operand_random(random)));
}

static void rows_match(const struct lanes *lanes) {
    static const struct {
        int k;
        enum matrix_format left, right;
        bool half_accumulators;
    } kinds[] = {
        {16, MATRIX_F16, MATRIX_F16, false},   {16, MATRIX_F16, MATRIX_F16, true},
        {16, MATRIX_BF16, MATRIX_BF16, false}, {8, MATRIX_TF32, MATRIX_TF32, false},
        {4, MATRIX_TF32, MATRIX_TF32, false},  {32, MATRIX_E4M3, MATRIX_E4M3, false},
        {32, MATRIX_E4M3, MATRIX_E5M2, true},  {32, MATRIX_E5M2, MATRIX_E4M3, false},
        {32, MATRIX_E5M2, MATRIX_E5M2, true},
    };
    enum { KINDS = sizeof kinds / sizeof *kinds };
    static float left[16][MMA_DEPTH_MAX], right[MMA_DEPTH_MAX][MMA_COLUMNS_MAX];
    static float before[16][MMA_COLUMNS_MAX], sums[16][MMA_COLUMNS_MAX];
    uint64_t random = 1;
    for (int round = 0; round < 20 * KINDS; round++) {
        int kind = round % KINDS, n = 8 + round % 4 * 24;
        const struct matrix_shape of_kind = {.k = kinds[kind].k,
                                             .left = kinds[kind].left,
                                             .right = kinds[kind].right,
                                             .half_accumulators = kinds[kind].half_accumulators};
        const struct matrix_shape *shape = &of_kind;
        fill(lanes, left[0], sizeof left / sizeof(float), shape->left, round, &random);
        fill(lanes, right[0], sizeof right / sizeof(float), shape->right, round, &random);
        if (shape->half_accumulators)
            fill(lanes, before[0], sizeof before / sizeof(float), MATRIX_F16, round, &random);
        else
            fill_sums(before[0], sizeof before / sizeof(float), round, &random);
        memcpy(sums, before, sizeof sums);
        lanes->rows(shape, n, sums, (const float(*)[MMA_DEPTH_MAX])left,
                    (const float(*)[MMA_COLUMNS_MAX])right);
        for (int row = 0; row < 16; row++)
            for (int i = 0; i < n; i++) {
                float is = sums[row][i];
                float wanted = exact_sum(left[row], (const float(*)[MMA_COLUMNS_MAX])right, i,
                                         before[row][i], shape);
                if (!(isnan(is) && isnan(wanted)) && float_bits(is) != float_bits(wanted))
                    fail_msg("round %d, row %d, column %d: 0x%x, not 0x%x", round, row, i,
                             float_bits(is), float_bits(wanted));
            }
    }
}

static void sums_match(void **state) {
    (void)state;
    struct lanes best = lanes_select(), plain = lanes_portable();
    rows_match(&best);
    rows_match(&plain);
}

/* ---- forms, with elements and metadata at their documented positions ---- */

struct product {
    struct form_product of;
    enum type types[2]; /* of a and b */
    bool halves;        /* c and d are f16 */
    bool negative;      /* the product a b is negated */
    int kept;           /* stored columns of a */
};

static struct product product_of(const struct form *form, const void *inputs) {
    int a_sign = 1, b_sign = 1;
    char types[2][8];
    struct product product = {.of = form_product_of(form, inputs),
                              .halves = form->results[0].type == TYPE_F16X2};
    const char *first = strstr(form->opcode, product.of.in_group ? "n8k" : ".col.");
    first = strchr(strchr(first + 1, '.') + 1, '.'); /* after d's type */
    assert_int_equal(sscanf(first, ".%7[a-z0-9].%7[a-z0-9]", types[0], types[1]), 2);
    for (int i = 0; i < 2; i++)
        product.types[i] = type_parse(types[i], (int)strlen(types[i]));
    if (product.of.in_group && sscanf(form->extra, "%d,%d", &a_sign, &b_sign) != 2)
        fail_msg("%s has no signs", form->opcode);
    product.negative = a_sign != b_sign;
    product.kept = product.of.is_sparse ? product.of.k / 2 : product.of.k;
    return product;
}

static float factor_of(const struct product *product, int warp, int group, int line, int k) {
    enum type type = product->types[group];
    int bytes = type_bytes(type), each = 4 / bytes;
    uint32_t word = form_word(&product->of, warp, group, line, k / each) >> k % each * 8 * bytes;
    return type == TYPE_TF32   ? bits_float(word & ~0x1fffu)
           : type == TYPE_F16  ? half_to_float((uint16_t)word)
           : type == TYPE_BF16 ? bfloat_to_float((uint16_t)word)
           : type == TYPE_E4M3 ? e4m3_to_float((uint8_t)word)
                               : e5m2_to_float((uint8_t)word);
}

static float sum_of(uint32_t word, int at, bool half) {
    return half ? half_to_float((uint16_t)(word >> 16 * at)) : bits_float(word);
}

/* ptxas's lowering of fp8 mma.sp: f16, in two parts. */
static float fp8_sparse_sum(const float *left, const float (*right)[MMA_COLUMNS_MAX], float sum) {
    static const struct matrix_shape shape = {.k = 16};
    static float part_right[16][MMA_COLUMNS_MAX];
    float part_left[16], total = 0;
    for (int part = 0; part < 2; part++) {
        for (int k = 0; k < 16; k++) {
            part_left[k] = left[k / 2 * 4 + 2 * part + k % 2];
            part_right[k][0] = right[k / 2 * 4 + 2 * part + k % 2][0];
        }
        total = exact_sum(part_left, (const float(*)[MMA_COLUMNS_MAX])part_right, 0, total, &shape);
    }
    return sum + total;
}

static bool is_small(enum type type) {
    return type == TYPE_E4M3 || type == TYPE_E5M2;
}

/* Result `half`, `next` of a thread: row g + 8 half, column 2t + next. */
static float expected(const struct product *product, int thread, int half, int next) {
    static float right[MMA_DEPTH_MAX][MMA_COLUMNS_MAX];
    float left[MMA_DEPTH_MAX];
    int lane = thread % 32, warp = thread / 32, row = lane / 4 + 8 * half;
    const struct matrix_shape shape = {.k = product->kept,
                                       .left = matrix_format_of(product->types[0]),
                                       .right = matrix_format_of(product->types[1]),
                                       .half_accumulators = product->halves};
    for (int i = 0; i < product->kept; i++) {
        enum type type = product->types[0];
        int k = i;
        if (product->of.is_sparse)
            k = form_kept(&product->of, warp, row, i, type == TYPE_TF32 ? 2 : 4, !is_small(type));
        left[i] = factor_of(product, warp, 0, row, i) * (product->negative ? -1 : 1);
        right[i][0] = factor_of(product, warp, 1, lane % 4 * 2 + next, k);
    }
    uint32_t word =
        form_register(&product->of, thread, 2, product->halves ? half : 2 * half + next);
    float sum = sum_of(word, next, product->halves);
    const float(*columns)[MMA_COLUMNS_MAX] = (const float(*)[MMA_COLUMNS_MAX])right;
    if (is_small(product->types[0]) && !product->of.in_group)
        return fp8_sparse_sum(left, columns, sum);
    float wanted = exact_sum(left, columns, 0, sum, &shape);
    return product->halves ? half_to_float(round_accumulator_to_half(wanted)) : wanted;
}

/* Excludes dense fp8 mma (recorded_test) and MN-major operands (hopper_test). */
static bool is_tried(const struct form *form) {
    const char *opcode = form->opcode;
    bool is_fp8 = strstr(opcode, "e4m3") || strstr(opcode, "e5m2");
    int signs[2], majors[2] = {0};
    bool is_k_major =
        sscanf(form->extra, "%d,%d,%d,%d", &signs[0], &signs[1], &majors[0], &majors[1]) < 3 ||
        (!majors[0] && !majors[1]);
    return strstr(opcode, "mma") && !strstr(opcode, ".s32.") && !strstr(opcode, "f64") &&
           !strstr(opcode, "m8n8k4") &&
           (!is_fp8 || strstr(opcode, "wgmma") || strstr(opcode, ".sp")) && is_k_major;
}

static void all_forms_match(void **state) {
    (void)state;
    enum { THREADS = 8 * FORM_THREADS };
    static uint64_t in[THREADS * FORM_SLOTS], results[THREADS * 4];
    struct form_list list;
    struct form_bench bench;
    struct error error = {0};
    int dense = 0, sparse = 0;
    form_list_make(&list);
    if (form_bench_open(&bench, "emulated:sm_90", THREADS, &error) < 0)
        fail_msg("%s", error.text);
    for (int i = 0; i < list.count; i++) {
        const struct form *form = &list.forms[i];
        if (!is_tried(form))
            continue;
        struct product product = product_of(form, in);
        struct form_result result = {0};
        forms_fill(form, (unsigned char *)in, THREADS, form_seed(form, 0));
        if (!form_bench_alone(&bench, &list, i, in, results, &result))
            fail_msg("%s", result.failure);
        for (int r = 0; r < 4 * THREADS; r++) {
            int thread = r / 4, half = r % 4 / 2, next = r % 2;
            int slot = product.halves ? 2 * thread + half : r;
            float is = sum_of((uint32_t)results[slot], next, product.halves);
            float wanted = expected(&product, thread, half, next);
            if (float_bits(is) != float_bits(wanted) && !(isnan(is) && isnan(wanted)))
                fail_msg("%s %s, thread %d, result %d: %g, not %g", form->opcode, form->extra,
                         thread, r % 4, (double)is, (double)wanted);
        }
        *(product.of.is_sparse ? &sparse : &dense) += 1;
    }
    print_message("%d dense forms, %d sparse ones\n", dense, sparse);
    assert_true(dense >= 56 && sparse >= 70);
    form_bench_unload(&bench);
    device_close(bench.device);
    form_list_free(&list);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_match),
        cmocka_unit_test(all_forms_match),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
