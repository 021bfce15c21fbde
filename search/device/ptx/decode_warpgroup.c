/* How wgmma is decoded. */
#include "device/ptx/execute.h"
#include "device/ptx/opcodes.h"

#include <string.h>

/* "m64n128k16": n, or 0. */
static int take_columns(struct decoder *decoder) {
    for (int i = 1; i < decoder->part_count; i++) {
        struct slice part = decoder->parts[i];
        int n = 0, used = 4;
        if (part.length < 8 || memcmp(part.text, "m64n", 4) != 0)
            continue;
        while (used < part.length && part.text[used] >= '0' && part.text[used] <= '9' && n < 1000)
            n = 10 * n + part.text[used++] - '0';
        if (part.length - used != 3 || memcmp(part.text + used, "k16", 3) != 0)
            return 0;
        decoder->taken[i] = true;
        return n % 8 == 0 && n <= PRODUCT_COLUMNS ? n : 0;
    }
    return 0;
}

/* 1 or -1; 0 or 1. */
static int immediate(struct decoder *decoder, int index, int64_t low, int64_t *value) {
    const struct operand *operand = operand_at(decoder, index);
    if (!operand || operand->kind != OPERAND_INTEGER ||
        ((int64_t)operand->bits != low && (int64_t)operand->bits != 1))
        return decode_fail(decoder, "operand %d is neither %d nor 1", index + 1, (int)low);
    *value = (int64_t)operand->bits;
    return 0;
}

static int decode_product(struct decoder *decoder) {
    struct instruction instruction = {.execute = execute_product, .float_mode = FLOAT_ANY};
    struct product_form *form = &instruction.as.product;
    form->n = take_columns(decoder);
    enum type d = take_type(decoder), a = take_type(decoder), b = take_type(decoder);
    bool known = form->n && a == b && (a == TYPE_F16 || (a == TYPE_BF16 && d == TYPE_F32)) &&
                 (d == TYPE_F32 || d == TYPE_F16);
    if (!known || expect_operands(decoder, 7, 8) < 0)
        return decode_fail(decoder, "this shape or these types are not known");
    form->format = a == TYPE_BF16 ? MATRIX_BF16 : MATRIX_F16;
    form->half_accumulators = d == TYPE_F16;
    form->a_in_registers = operand_at(decoder, 1)->kind == OPERAND_VECTOR;
    int d_count = form->half_accumulators ? form->n / 4 : form->n / 2;
    int a_count = form->a_in_registers ? 4 : 1;
    uint32_t places[PRODUCT_COLUMNS / 2 + 6], *place = places;
    if (matrix_operand(decoder, 0, d_count, true, place) < 0)
        return -1;
    place += d_count;
    if (form->a_in_registers ? matrix_operand(decoder, 1, 4, false, place)
                             : source(decoder, operand_at(decoder, 1), TYPE_B64, 8, place))
        return -1;
    place += a_count;
    int64_t scale_a, scale_b, a_mn_major = 0, b_mn_major;
    if (source(decoder, operand_at(decoder, 2), TYPE_B64, 8, place) < 0 ||
        predicate_source(decoder, operand_at(decoder, 3), &form->predicate_negated, place + 1) <
            0 ||
        immediate(decoder, 4, -1, &scale_a) < 0 || immediate(decoder, 5, -1, &scale_b) < 0 ||
        (!form->a_in_registers && immediate(decoder, 6, 0, &a_mn_major) < 0) ||
        immediate(decoder, form->a_in_registers ? 6 : 7, 0, &b_mn_major) < 0)
        return -1;
    form->a_negated = scale_a < 0;
    form->b_negated = scale_b < 0;
    form->a_mn_major = a_mn_major;
    form->b_mn_major = b_mn_major;
    emit(decoder, &instruction, places, d_count + a_count + 2);
    return 0;
}

DECODE(wgmma) {
    (void)opcode;
    struct instruction instruction = {.execute = execute_product_commit, .float_mode = FLOAT_ANY};
    if (!take(decoder, "sync") || !take(decoder, "aligned"))
        return decode_fail(decoder, "this form is not known");
    if (take(decoder, "mma_async"))
        return decode_product(decoder);
    if (take(decoder, "fence"))
        return 0;
    if (take(decoder, "wait_group")) {
        const struct operand *groups = operand_at(decoder, 0);
        if (!groups || groups->kind != OPERAND_INTEGER || groups->bits > INT32_MAX)
            return decode_fail(decoder, "waits for no number of groups");
        instruction.execute = execute_product_wait;
        instruction.as.product.n = (int)groups->bits;
    } else if (!take(decoder, "commit_group")) {
        return decode_fail(decoder, "this form is not known");
    }
    emit(decoder, &instruction, NULL, 0);
    return 0;
}
