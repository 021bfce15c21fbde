/* Decodes wgmma. */
#include "ptx/execute.h"
#include "ptx/opcodes.h"

#include <string.h>

/* Takes a shape like "m64n128k16"; returns n (0 if not supported) and k. */
static int take_shape(struct decoder *decoder, int *k) {
    for (int i = 1; i < decoder->part_count; i++) {
        struct slice part = decoder->parts[i];
        int n = 0, used = 4;
        if (part.length < 7 || memcmp(part.text, "m64n", 4) != 0)
            continue;
        while (used < part.length && part.text[used] >= '0' && part.text[used] <= '9' && n < 1000)
            n = 10 * n + part.text[used++] - '0';
        struct slice rest = {part.text + used, part.length - used};
        *k = slice_is(rest, "k8")     ? 8
             : slice_is(rest, "k16")  ? 16
             : slice_is(rest, "k32")  ? 32
             : slice_is(rest, "k64")  ? 64
             : slice_is(rest, "k256") ? 256
                                      : 0;
        if (*k == 0)
            return 0;
        decoder->taken[i] = true;
        return n % 8 == 0 && n <= MMA_COLUMNS_MAX ? n : 0;
    }
    return 0;
}

/* Reads an immediate that must be `low` (-1 or 0) or 1. */
static int decode_sign_immediate(struct decoder *decoder, int index, int64_t low, int64_t *value) {
    const struct operand *operand = operand_at(decoder, index);
    if (!operand || operand->kind != OPERAND_INTEGER ||
        ((int64_t)operand->bits != low && (int64_t)operand->bits != 1))
        return decode_fail(decoder, "operand %d must be %d or 1", index + 1, (int)low);
    *value = (int64_t)operand->bits;
    return 0;
}

static bool is_supported(const struct wgmma_form *form, enum type d, enum type a, enum type b) {
    if (form->is_integer) /* valid n: PTX ISA 9.7.15.2 */
        return form->k * form->a.bits == 256 && form->a.bits != 4 && form->b.bits == form->a.bits &&
               (form->n <= 32 || form->n % 16 == 0);
    if (is_fp8(a))
        return form->k == 32 && is_fp8(b) && (d == TYPE_F32 || d == TYPE_F16);
    if (a == TYPE_TF32)
        return form->k == 8 && b == a && d == TYPE_F32;
    return form->k == 16 && b == a &&
           (a == TYPE_F16 ? d == TYPE_F32 || d == TYPE_F16 : a == TYPE_BF16 && d == TYPE_F32);
}

/* Reads what follows the predicate (operand `at`): the signs of a and b and, for 16-bit formats,
   their major-ness. */
static int take_trailing_immediates(struct decoder *decoder, int at, struct wgmma_form *form) {
    int64_t scale_a, scale_b, a_mn_major = 0, b_mn_major = 0;
    if (form->is_integer)
        return expect_operands(decoder, at + 1, at + 1);
    if (decode_sign_immediate(decoder, at + 1, -1, &scale_a) < 0 ||
        decode_sign_immediate(decoder, at + 2, -1, &scale_b) < 0)
        return -1;
    form->a_negated = scale_a < 0;
    form->b_negated = scale_b < 0;
    if (form->k != 16)
        return expect_operands(decoder, at + 3, at + 3);
    if ((!form->a_in_registers && decode_sign_immediate(decoder, at + 3, 0, &a_mn_major) < 0) ||
        decode_sign_immediate(decoder, form->a_in_registers ? at + 3 : at + 4, 0, &b_mn_major) < 0)
        return -1;
    form->a_mn_major = a_mn_major;
    form->b_mn_major = b_mn_major;
    return expect_operands(decoder, form->a_in_registers ? at + 4 : at + 5, at + 5);
}

static int decode_wgmma_mma_async(struct decoder *decoder) {
    struct instruction instruction = new_instruction(execute_wgmma);
    struct wgmma_form *form = &instruction.as.wgmma;
    form->n = take_shape(decoder, &form->k);
    form->sparsity.is_sparse = take_modifier(decoder, "sp");
    int predicate = form->sparsity.is_sparse ? 5 : 3;
    if (form->sparsity.is_sparse)
        form->k /= 2;
    enum type d = take_type(decoder);
    form->is_integer = d == TYPE_S32 && take_integer_format(decoder, &form->a) &&
                       take_integer_format(decoder, &form->b);
    enum type a = take_type(decoder), b = take_type(decoder);
    if (form->is_integer && form->a.bits == 1 &&
        !(take_modifier(decoder, "and") & take_modifier(decoder, "popc")))
        return decode_fail(decoder, "unsupported form");
    form->saturates = form->is_integer && form->a.bits == 8 && take_modifier(decoder, "satfinite");
    if (!form->n || !is_supported(form, d, a, b) ||
        expect_operands(decoder, predicate + 1, predicate + 5) < 0)
        return decode_fail(decoder, "unsupported shape or types");
    form->left = matrix_format_of(a);
    form->right = matrix_format_of(b);
    form->half_accumulators = d == TYPE_F16;
    form->a_in_registers = operand_at(decoder, 1)->kind == OPERAND_VECTOR;
    int d_count = form->half_accumulators ? form->n / 4 : form->n / 2;
    int a_count = form->a_in_registers ? 4 : 1;
    form->sparsity.width = a == TYPE_TF32 ? 2 : 4;
    form->sparsity.pairs_rows = form->k <= 16;
    uint32_t places[MMA_COLUMNS_MAX / 2 + 7], *place = places;
    decode_matrix_operand(decoder, 0, d_count, 4, true, place);
    place += d_count;
    if (form->a_in_registers)
        decode_matrix_operand(decoder, 1, 4, 4, false, place);
    else
        *place = decode_source(decoder, operand_at(decoder, 1), TYPE_B64, 8);
    place += a_count;
    *place++ = decode_source(decoder, operand_at(decoder, 2), TYPE_B64, 8);
    *place++ = decode_predicate(decoder, operand_at(decoder, predicate), &form->predicate_negated);
    take_trailing_immediates(decoder, predicate, form);
    if (form->sparsity.is_sparse)
        *place++ = decode_sparsity_metadata(decoder, 3, 2 * form->k, &form->sparsity);
    return emit_instruction(decoder, &instruction, places, (int)(place - places));
}

DECODE(wgmma) {
    if (!take_modifier(decoder, "sync") || !take_modifier(decoder, "aligned"))
        return decode_fail(decoder, "unsupported form");
    if (take_modifier(decoder, "mma_async"))
        return decode_wgmma_mma_async(decoder);
    if (take_modifier(decoder, "fence"))
        return 0;
    if (take_modifier(decoder, "wait_group")) {
        instruction->execute = execute_wgmma_wait;
        instruction->as.wgmma.n = decode_group_count(decoder);
    } else if (!take_modifier(decoder, "commit_group")) {
        return decode_fail(decoder, "unsupported form");
    }
    return emit_instruction(decoder, instruction, NULL, 0);
}
