/*
 * mma and wgmma of integers, whose results PTX defines: every form of forms/table.h compared with
 * sums over matrices that are read element by element from the documented layout; a sparse form
 * compared with the dense product with its zeros inserted. Also mma.m8n8k4 of f16 with integral
 * values.
 */
/* required before cmocka.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ptx/forms/bench.h"
#include "ptx/forms/matrices.h"

enum { THREADS = 256, K_MAX = 256 };

struct product {
    struct form_product of;
    int bits;
    bool a_signed, b_signed, saturates, exclusive;
};

/* mma....m16n8k64.row.col.satfinite.s32.s4.u4.s32, wgmma....s32.satfinite.s8.u8, ...s32.b1.b1 */
static struct product product_of(const struct form *form, const unsigned char *inputs) {
    const char *types = strstr(form->opcode, ".s32.") + 5;
    bool saturates = strstr(form->opcode, "satfinite") != NULL;
    if (!strncmp(types, "satfinite.", 10))
        types += 10;
    return (struct product){.of = form_product_of(form, inputs),
                            .bits = types[1] - '0',
                            .a_signed = types[0] == 's',
                            .b_signed = types[3] == 's',
                            .saturates = saturates,
                            .exclusive = strstr(form->opcode, "xor") != NULL};
}

static int number_at(const struct product *product, int warp, int group, int line, int k) {
    int each = 32 / product->bits, bits = product->bits;
    uint32_t word = form_word(&product->of, warp, group, line, k / each);
    int number = (int)(word >> k % each * bits & ((1u << bits) - 1));
    bool is_signed = group == 0 ? product->a_signed : product->b_signed;
    return is_signed && number >> (bits - 1) ? number - (1 << bits) : number;
}

static void left_row(const struct product *product, int warp, int row, int out[K_MAX]) {
    int kept = product->of.is_sparse ? product->of.k / 2 : product->of.k;
    memset(out, 0, K_MAX * sizeof *out);
    for (int i = 0; i < kept; i++) {
        int column = product->of.is_sparse
                         ? form_kept(&product->of, warp, row, i, product->bits == 4 ? 8 : 4, false)
                         : i;
        out[column] = number_at(product, warp, 0, row, i);
    }
}

static uint32_t expected(const struct product *product, int thread, int result) {
    int lane = thread % 32, row = lane / 4 + result / 2 * 8, column = lane % 4 * 2 + result % 2;
    int left[K_MAX];
    int64_t sum = (int32_t)form_register(&product->of, thread, 2, result);
    left_row(product, thread / 32, row, left);
    for (int k = 0; k < product->of.k; k++) {
        int right = number_at(product, thread / 32, 1, column, k);
        sum += product->exclusive ? left[k] != right : left[k] * right;
    }
    if (product->saturates && sum != (int32_t)sum)
        return sum < 0 ? 0x80000000 : 0x7fffffff;
    return (uint32_t)(uint64_t)sum;
}

static void all_forms_match(void **state) {
    (void)state;
    static unsigned char inputs[THREADS * FORM_SLOTS * 8];
    static uint64_t results[THREADS * 4];
    struct form_list list;
    struct form_bench bench;
    struct error error = {0};
    int dense = 0, sparse = 0;
    form_list_make(&list);
    if (form_bench_open(&bench, "emulated:sm_90", THREADS, &error) < 0)
        fail_msg("%s", error.text);
    for (int i = 0; i < list.count; i++) {
        const struct form *form = &list.forms[i];
        if (!strstr(form->opcode, "mma") || !strstr(form->opcode, ".s32."))
            continue;
        struct product product = product_of(form, inputs);
        struct form_result result = {0};
        forms_fill(form, inputs, THREADS, form_seed(form, 0));
        if (!form_bench_alone(&bench, &list, i, inputs, results, &result))
            fail_msg("%s", result.failure);
        for (int r = 0; r < THREADS * form->result_slots; r++) {
            int thread = r / form->result_slots;
            uint32_t wanted = expected(&product, thread, r % form->result_slots);
            if ((uint32_t)results[r] != wanted)
                fail_msg("%s %s, thread %d, result %d: 0x%x, not 0x%x", form->opcode, form->extra,
                         thread, r % form->result_slots, (uint32_t)results[r], wanted);
        }
        *(product.of.is_sparse ? &sparse : &dense) += 1;
    }
    assert_true(dense >= 68 && sparse >= 108);
    form_bench_unload(&bench);
    device_close(bench.device);
    form_list_free(&list);
}

/* ---- mma.m8n8k4: four products of 8 x 8 ---- */

enum { SIZE = 8, DEPTH = 4 };

/* An element of a lane; f16 has two per register. */
static float float_of_word(uint32_t word, int element, bool half) {
    return half ? half_to_float((uint16_t)(word >> 16 * (element % 2))) : bits_float(word);
}

static float factor(const struct form_product *product, int quarter, int group, int line, int k,
                    bool along) {
    int lane = 16 * (line / 4) + 4 * quarter + (along ? line % 4 : k), at = along ? k : line % 4;
    return float_of_word(form_register(product, lane, group, at / 2), at, true);
}

/* The position of a sum: its lane, and the index among that lane's eight. */
static int position_of_sum(int quarter, int row, int column, bool half, int *lane) {
    *lane = 16 * (row / 4) + 4 * quarter + (half ? row % 4 : (row & 1) + (column & 2));
    return half ? column : (column & 4) + (row & 2) + (column & 1);
}

static void m8n8k4_form_matches(const struct form_product *product, const uint64_t *results) {
    const struct form *form = product->form;
    const char *types = strstr(form->opcode, "m8n8k4.") + 7;
    bool a_is_k_contiguous = types[0] == 'r', b_is_k_contiguous = types[4] == 'c';
    bool half_result = form->results[0].count == 4, half_accumulator = form->operands[2].count == 4;
    for (int i = 0; i < 4 * SIZE * SIZE; i++) {
        int quarter = i / (SIZE * SIZE), row = i / SIZE % SIZE, column = i % SIZE, lane;
        int at = position_of_sum(quarter, row, column, half_accumulator, &lane);
        uint32_t addend = form_register(product, lane, 2, half_accumulator ? at / 2 : at);
        float wanted = float_of_word(addend, at, half_accumulator);
        for (int k = 0; k < DEPTH; k++)
            wanted += factor(product, quarter, 0, row, k, a_is_k_contiguous) *
                      factor(product, quarter, 1, column, k, b_is_k_contiguous);
        at = position_of_sum(quarter, row, column, half_result, &lane);
        int slot = lane * form->result_slots + (half_result ? at / 2 : at);
        float is = float_of_word((uint32_t)results[slot], at, half_result);
        if (is != wanted)
            fail_msg("%s, product %d, row %d, column %d: %g, not %g", form->opcode, quarter, row,
                     column, (double)is, (double)wanted);
    }
}

static void m8n8k4_matches(void **state) {
    (void)state;
    static unsigned char inputs[FORM_THREADS * FORM_SLOTS * 8];
    static uint64_t results[FORM_THREADS * 8];
    struct form_list list;
    struct form_bench bench;
    struct error error = {0};
    uint64_t random = 1;
    int count = 0;
    form_list_make(&list);
    if (form_bench_open(&bench, "emulated:sm_90", FORM_THREADS, &error) < 0)
        fail_msg("%s", error.text);
    for (int i = 0; i < list.count; i++) {
        struct form *form = &list.forms[i];
        struct form_result result = {0};
        if (!strstr(form->opcode, ".m8n8k4.") || strstr(form->opcode, "f64"))
            continue;
        struct form_product product = form_product_of(form, inputs);
        for (int slot = 0; slot < FORM_THREADS * form_stride(form) / 8; slot++) {
            int within = slot % (form_stride(form) / 8); /* within a thread */
            bool are_halves = within < 4 || form->operands[2].count == 4;
            float low = (float)(operand_random(&random) % 33) - 16;
            float high = (float)(operand_random(&random) % 33) - 16;
            uint32_t word = are_halves ? float_to_half(low) | (uint32_t)float_to_half(high) << 16
                                       : float_bits(low);
            memcpy(inputs + 8 * slot, &(uint64_t){word}, 8);
        }
        if (!form_bench_alone(&bench, &list, i, inputs, results, &result))
            fail_msg("%s", result.failure);
        m8n8k4_form_matches(&product, results);
        count++;
    }
    assert_int_equal(count, 12);
    form_bench_unload(&bench);
    device_close(bench.device);
    form_list_free(&list);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_forms_match),
                                       cmocka_unit_test(m8n8k4_matches)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
