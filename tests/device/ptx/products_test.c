/*
 * mma and wgmma: bit for bit what an H200 gave, as far as it was recorded (opcodes_test's runs of
 * 2026-11-21, driver 580); and both variants of the code against sums in integers, written
 * independently.
 */
/* cmocka wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/ptx/forms/bench.h"
#include "device/ptx/lanes.h"

/* ---- a GPU's results ---- */

enum { RECORDED_THREADS = 16384, RECORDED_MAX = 8 };

/* Of forms whose results once differed, by opcodes_test's operands: those that were farthest off,
   and the first beyond the bound of then. */
static const struct {
    const char *form;
    uint64_t seed; /* of the operands */
    struct {
        int thread, slot;
        uint32_t bits;
    } results[RECORDED_MAX];
} recorded[] = {
    {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 0, {{12600, 1, 0x3c50babe}}},
    {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
     0,
     {{581, 0, 0xff800000},
      {581, 2, 0xff800000},
      {587, 1, 0xff800000},
      {597, 2, 0x7f800000},
      {603, 1, 0xff800000},
      {1289, 1, 0x7f800000},
      {7272, 3, 0xbfdf8d28},
      {13796, 0, 0x3e2e3387}}},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
     0,
     {{352, 2, 0x3fd0fe5b}, {1982, 2, 0x3d158370}, {9443, 3, 0x3d21b470}, {13222, 2, 0xbc4f5540}}},
    {"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32",
     0,
     {{1, 1, 0x3f1b2abb},
      {7721, 2, 0x7f800000},
      {7722, 1, 0xff800000},
      {7729, 0, 0x7f800000},
      {7730, 3, 0x7f800000},
      {7733, 2, 0x7f800000},
      {7741, 0, 0xff800000}}},
    {"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16",
     0,
     {{2303, 1, 0x45a7c478}, {11169, 1, 0x00003ec6}}},
    {"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", 1, {{6574, 1, 0x4ce00000}}},
    {"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", 2, {{3122, 0, 0xc4c00000}}},
    {"mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32",
     0,
     {{122, 2, 0x3e888ebb},
      {6113, 0, 0x7c01faf0},
      {6114, 0, 0xff275e12},
      {6821, 2, 0xff800000},
      {8042, 0, 0x7f800000},
      {8054, 2, 0x7f800000},
      {8058, 0, 0x7f800000}}},
    {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32",
     0,
     {{480, 0, 0x3f5038ec},
      {10928, 2, 0xbc07ece0},
      {12546, 2, 0xbd36b450},
      {15364, 2, 0x3b62e588},
      {15365, 3, 0x3ab36638},
      {15367, 3, 0x3c5056b0}}},
    {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
     0,
     {{763, 2, 0x7e4de640},
      {5257, 3, 0xbfff11e7},
      {5433, 1, 0x7f800000},
      {5435, 0, 0x7f800000},
      {6852, 1, 0xff800000},
      {6854, 0, 0xff800000},
      {12264, 0, 0xff800000}}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 -1,1,0", 0, {{7964, 1, 0xc741c9ad}}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 1,-1,0,0", 0, {{10546, 0, 0xfa316cc1}}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 1,1,0", 0, {{1806, 0, 0x416bc5f3}}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 1,1,0,0", 0, {{2112, 0, 0x38c848ed}}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 1,1,0,1", 0, {{15029, 1, 0x1ceb24e7}}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 1,1,0,1", 2, {{883, 1, 0x0000078d}}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 1,1,1,0", 0, {{1814, 0, 0x3a0ac867}}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 -1,1,0",
     0,
     {{2040, 3, 0x3c6724e0},
      {2183, 1, 0xbe3eb144},
      {3366, 2, 0x3ff57685},
      {5201, 0, 0xbdae3b80},
      {5873, 3, 0x3e9020b0},
      {5922, 2, 0xc18124a6}}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 1,-1,0,0",
     0,
     {{1281, 1, 0x3e5aef24},
      {1295, 0, 0xbe500864},
      {3534, 2, 0xc4d0bee2},
      {3624, 1, 0x3eac0846},
      {3638, 0, 0xbf79cc85},
      {3640, 1, 0x3e7a24ab},
      {11470, 0, 0x3dcf73ac}}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 1,1,0", 0, {{2795, 3, 0x3fa560dc}}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 1,1,0,0", 0, {{106, 3, 0xbe5b413c}}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 1,1,0,1", 0, {{310, 3, 0xc7800555}}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 1,1,1,0", 0, {{1476, 3, 0xbfcde3c5}}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 -1,1,0",
     0,
     {{473, 1, 0xbc990630},
      {490, 0, 0xbe88bbf1},
      {827, 3, 0x3ca52d00},
      {2727, 0, 0xc03fb873},
      {2771, 3, 0x3c475e00},
      {5635, 1, 0xbd2854c0},
      {12809, 3, 0x3b8c8ac0}}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 1,-1,0,0",
     0,
     {{333, 3, 0xbfd3c360},
      {834, 1, 0xbe7a0726},
      {1143, 3, 0xbe23f248},
      {1441, 3, 0x437de710},
      {1804, 2, 0xbf6cba22},
      {4178, 2, 0xbf31947c},
      {15027, 0, 0x3d6281e8}}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 1,1,0", 0, {{5750, 2, 0x3f75f35a}}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 1,1,0,0", 0, {{4113, 3, 0x457b361a}}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 1,1,0,1", 0, {{1661, 1, 0x3f70c8d5}}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 1,1,1,0", 0, {{2230, 3, 0x4224102d}}},
};

static const struct form *form_named(const struct form_list *list, const char *wanted) {
    char name[2 * FORM_TEXT];
    for (int i = 0; i < list->count; i++) {
        form_name(&list->forms[i], name);
        if (!strcmp(name, wanted))
            return &list->forms[i];
    }
    fail_msg("forms/table.h has no '%s'", wanted);
    return NULL;
}

static void a_gpu_gave_the_same(void **state) {
    (void)state;
    struct form_list list;
    struct form_bench bench;
    struct error error = {0};
    int count = 0, bad = 0;
    form_list_make(&list);
    if (form_bench_open(&bench, "emulated:sm_90", RECORDED_THREADS, &error) < 0)
        fail_msg("%s", error.text);
    unsigned char *inputs = malloc(form_input_bytes(RECORDED_THREADS));
    uint64_t *results = malloc(form_input_bytes(RECORDED_THREADS));
    for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++) {
        const struct form *form = form_named(&list, recorded[i].form);
        int number = (int)(form - list.forms);
        char *ptx = forms_ptx(&list, number, 1);
        struct form_result result = {0};
        if (form_bench_load(&bench, ptx, &error) < 0)
            fail_msg("%s", error.text);
        free(ptx);
        forms_fill(form, inputs, RECORDED_THREADS, form_seed(form, recorded[i].seed));
        if (!form_is_run(&bench, form, number, inputs, results, &result))
            fail_msg("%s", result.failure);
        for (int j = 0; j < RECORDED_MAX && recorded[i].results[j].bits; j++, count++) {
            int thread = recorded[i].results[j].thread, slot = recorded[i].results[j].slot;
            uint32_t is = (uint32_t)results[thread * form->result_slots + slot];
            if (is == recorded[i].results[j].bits)
                continue;
            bad++;
            print_error("%s, thread %d, result %d: 0x%x; a GPU gave 0x%x\n", recorded[i].form,
                        thread, slot, is, recorded[i].results[j].bits);
        }
    }
    form_bench_unload(&bench);
    device_close(bench.device);
    free(inputs);
    free(results);
    form_list_free(&list);
    assert_int_equal(count, 86);
    assert_int_equal(bad, 0);
}

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

/* Towards zero. */
static int64_t shifted(int64_t number, int right) {
    uint64_t magnitude = (uint64_t)llabs(number);
    magnitude = right > 63 ? 0 : magnitude >> right;
    return number < 0 ? -(int64_t)magnitude : (int64_t)magnitude;
}

/* total 2^unit, as fp32 towards zero, or as what rounds to f16 like it. */
static float narrowed(int64_t total, int unit, bool half) {
    uint64_t magnitude = (uint64_t)llabs(total), lost = 0;
    for (; magnitude > 0xffffff || unit < -149; unit++, magnitude >>= 1)
        lost |= magnitude & 1;
    double value = ldexp((double)(magnitude | (half && lost)), unit);
    return (float)(total < 0 ? -value : value);
}

static float summed(const float *left, const float (*right)[PRODUCT_COLUMNS], int column, float sum,
                    const struct matrix_shape *shape) {
    int least = shape->format == MATRIX_F16 ? -14 : -126, most = -10000;
    struct summand of[17] = {summand_of(sum, -126)};
    bool is_open = !isfinite(sum);
    double open = sum;
    of[0].significand *= 1 << 23;
    for (int k = 0; k < shape->k; k++) {
        struct summand a = summand_of(left[k], least), b = summand_of(right[k][column], least);
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
            total += shifted(of[i].significand, 46 - 25 + most - of[i].exponent);
    return total ? narrowed(total, most - 25, shape->half_accumulators) : 0;
}

/* c of fp32 has digits that tf32 has not. */
static void fill(float *out, size_t count, enum type type, uint32_t digits, int mood,
                 uint64_t *random) {
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = operand_number(type, KIND_MATRIX, 32 * mood, operand_random(random));
        out[i] = type == TYPE_F16    ? half_to_float((uint16_t)bits)
                 : type == TYPE_BF16 ? bfloat_to_float((uint16_t)bits)
                                     : bits_float((uint32_t)bits & digits);
        if (operand_random(random) % 16 == 0)
            out[i] = 0;
    }
}

static void rows_are_right(const struct lanes *lanes) {
    static const struct matrix_shape shapes[] = {
        {16, MATRIX_F16, false}, {16, MATRIX_F16, true},  {16, MATRIX_BF16, false},
        {8, MATRIX_TF32, false}, {4, MATRIX_TF32, false},
    };
    static const enum type types[] = {
        [MATRIX_F16] = TYPE_F16, [MATRIX_BF16] = TYPE_BF16, [MATRIX_TF32] = TYPE_F32};
    static float left[16][16], right[16][PRODUCT_COLUMNS], sums[16][PRODUCT_COLUMNS];
    static float before[16][PRODUCT_COLUMNS];
    uint64_t random = 1;
    for (int round = 0; round < 100; round++) {
        const struct matrix_shape *shape = &shapes[round % 5];
        int n = 8 + round % 3 * 24;
        enum type type = types[shape->format];
        fill(left[0], sizeof left / sizeof(float), type, ~0x1fffu, round, &random);
        fill(right[0], sizeof right / sizeof(float), type, ~0x1fffu, round, &random);
        fill(before[0], sizeof before / sizeof(float),
             shape->half_accumulators ? TYPE_F16 : TYPE_F32, ~0u, round, &random);
        memcpy(sums, before, sizeof sums);
        lanes->rows(shape, n, sums, (const float(*)[16])left,
                    (const float(*)[PRODUCT_COLUMNS])right);
        for (int row = 0; row < 16; row++)
            for (int i = 0; i < n; i++) {
                float is = sums[row][i];
                float wanted = summed(left[row], (const float(*)[PRODUCT_COLUMNS])right, i,
                                      before[row][i], shape);
                if (!(isnan(is) && isnan(wanted)) && float_bits(is) != float_bits(wanted))
                    fail_msg("round %d, row %d, column %d: 0x%x, not 0x%x", round, row, i,
                             float_bits(is), float_bits(wanted));
            }
    }
}

static void sums_are_right(void **state) {
    (void)state;
    struct lanes best = lanes_best(), plain = lanes_plain();
    rows_are_right(&best);
    rows_are_right(&plain);
}

/* ---- a warpgroup's products of whole numbers and of tf32, by where PTX says elements lie ---- */

enum { GROUP_THREADS = 128, SLOTS = 12 /* a: 4, b: 4, c: 4 */ };

/* The 32 bits of a's row at k (in fours of bytes) of a thread's warp; and of b's column, which the
   first 16 threads of the block brought as core matrices. */
static uint32_t word_of_left(const uint64_t (*in)[SLOTS], int thread, int row, int word) {
    return (uint32_t)in[thread / 32 * 32 + row % 8 * 4 + word % 4][word / 4 * 2 + row / 8];
}

static uint32_t word_of_right(const uint64_t (*in)[SLOTS], int thread, int column, int word) {
    return (
        uint32_t)in[thread / GROUP_THREADS * GROUP_THREADS + word / 4 * 8 + column][4 + word % 4];
}

static int byte_of(uint32_t word, int at, bool is_signed) {
    uint8_t byte = (uint8_t)(word >> 8 * at);
    return is_signed ? (int8_t)byte : byte;
}

static uint32_t expected_number(const uint64_t (*in)[SLOTS], int thread, int row, int column,
                                uint32_t sum, const char *form) {
    bool a_signed = strstr(form, ".s8.") != NULL, saturates = strstr(form, "satfinite") != NULL;
    bool b_signed = !strcmp(form + strlen(form) - 2, "s8");
    int64_t total = (int32_t)sum;
    for (int k = 0; k < 32; k++)
        total += byte_of(word_of_left(in, thread, row, k / 4), k % 4, a_signed) *
                 byte_of(word_of_right(in, thread, column, k / 4), k % 4, b_signed);
    if (saturates && total != (int32_t)total)
        return total < 0 ? 0x80000000 : 0x7fffffff;
    return (uint32_t)(uint64_t)total;
}

static uint32_t expected_tf32(const uint64_t (*in)[SLOTS], int thread, int row, int column,
                              uint32_t sum) {
    static const struct matrix_shape shape = {8, MATRIX_TF32, false};
    static float right[8][PRODUCT_COLUMNS];
    float left[8];
    for (int k = 0; k < 8; k++) {
        left[k] = bits_float(word_of_left(in, thread, row, k) & ~0x1fffu);
        right[k][0] = bits_float(word_of_right(in, thread, column, k) & ~0x1fffu);
    }
    return float_bits(
        summed(left, (const float(*)[PRODUCT_COLUMNS])right, 0, bits_float(sum), &shape));
}

static void others_are_right(void **state) {
    (void)state;
    enum { THREADS = 2 * GROUP_THREADS };
    static const char *const forms[] = {
        "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8",
        "wgmma.mma_async.sync.aligned.m64n8k32.s32.u8.s8",
        "wgmma.mma_async.sync.aligned.m64n8k32.s32.satfinite.s8.u8",
        "wgmma.mma_async.sync.aligned.m64n8k32.s32.satfinite.u8.u8",
        "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 1,1",
    };
    static uint64_t in[THREADS][SLOTS], results[THREADS * 4];
    struct form_list list;
    struct form_bench bench;
    struct error error = {0};
    form_list_make(&list);
    if (form_bench_open(&bench, "emulated:sm_90", THREADS, &error) < 0)
        fail_msg("%s", error.text);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const struct form *form = form_named(&list, forms[i]);
        char *ptx = forms_ptx(&list, (int)(form - list.forms), 1);
        struct form_result result = {0};
        if (form_bench_load(&bench, ptx, &error) < 0)
            fail_msg("%s", error.text);
        free(ptx);
        forms_fill(form, (unsigned char *)in, THREADS, form_seed(form, 0));
        if (!form_is_run(&bench, form, (int)(form - list.forms), (unsigned char *)in, results,
                         &result))
            fail_msg("%s", result.failure);
        for (int r = 0; r < 4 * THREADS; r++) {
            int thread = r / 4, lane = thread % 32, row = lane / 4 + r % 4 / 2 * 8;
            int column = lane % 4 * 2 + r % 2;
            uint32_t sum = (uint32_t)in[thread][8 + r % 4], is = (uint32_t)results[r];
            const uint64_t(*operands)[SLOTS] = (const uint64_t(*)[SLOTS])in;
            bool is_tf32 = strstr(forms[i], "tf32") != NULL;
            uint32_t wanted = is_tf32
                                  ? expected_tf32(operands, thread, row, column, sum)
                                  : expected_number(operands, thread, row, column, sum, forms[i]);
            if (is != wanted && !(is_tf32 && isnan(bits_float(is)) && isnan(bits_float(wanted))))
                fail_msg("%s, thread %d, result %d: 0x%x, not 0x%x", forms[i], thread, r % 4, is,
                         wanted);
        }
    }
    form_bench_unload(&bench);
    device_close(bench.device);
    form_list_free(&list);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gpu_gave_the_same),
        cmocka_unit_test(sums_are_right),
        cmocka_unit_test(others_are_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
