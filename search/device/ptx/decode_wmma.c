/* How wmma (mma.h) is decoded: PTX ISA 9.7.14.3 to 9.7.14.5. */
#include "device/ptx/execute.h"
#include "device/ptx/opcodes.h"

#include <string.h>

/* The shapes of 16-bit formats and of bytes, of tf32 and of doubles. */
static const char *const shapes[] = {"m16n16k16", "m32n8k16", "m8n32k16",
                                     "m16n16k8",  "m8n8k4",   NULL};
static const struct {
    uint8_t m, n, k;
} extents[] = {{16, 16, 16}, {32, 8, 16}, {8, 32, 16}, {16, 16, 8}, {8, 8, 4}};

static const char *const layouts[] = {"row", "col", NULL};

static int take_shape(struct decoder *decoder, struct wmma_form *form) {
    int index = take_one_of(decoder, shapes);
    if (index < 0)
        return -1;
    form->m = extents[index].m;
    form->n = extents[index].n;
    form->k = extents[index].k;
    return 0;
}

static bool is_known(const struct wmma_form *form, enum wmma_part part, enum type type) {
    if (form->k == 4)
        return type == TYPE_F64;
    if (part == WMMA_ACCUMULATOR)
        return type == TYPE_F32 || (form->k == 16 && (type == TYPE_F16 || type == TYPE_S32));
    return form->k == 8 ? type == TYPE_TF32
                        : type == TYPE_F16 || type == TYPE_BF16 || is_byte(type);
}

static int register_bytes(enum type type) {
    return type == TYPE_F64 ? 8 : 4;
}

/* wmma.load: d, [p], stride; wmma.store: [p], d, stride. */
static int decode_transfer(struct decoder *decoder, bool is_store) {
    struct instruction instruction = {.execute =
                                          is_store ? execute_store_fragment : execute_load_fragment,
                                      .float_mode = FLOAT_ANY};
    struct wmma_form *form = &instruction.as.wmma;
    static const char *const parts[] = {"a", "b", "c", "d", NULL};
    int part = take_one_of(decoder, parts);
    bool known = part >= 0 && take(decoder, "sync") & take(decoder, "aligned");
    int layout = take_one_of(decoder, layouts);
    if (!known || layout < 0 || take_shape(decoder, form) < 0)
        return decode_fail(decoder, "this form is not known");
    form->where.space = take_space(decoder, SPACE_GENERIC);
    enum type type = take_type(decoder);
    form->part = part > 2 ? WMMA_ACCUMULATOR : (enum wmma_part)part;
    form->column_major = layout == 1;
    form->type = type;
    if (!is_known(form, form->part, type) || expect_operands(decoder, 2, 3) < 0)
        return decode_fail(decoder, "this shape or type is not known");
    form->registers = (uint8_t)fragment_registers(form, form->part, type);
    uint32_t places[2 + 8], base;
    if (address(decoder, operand_at(decoder, is_store ? 0 : 1), &form->where, &base) < 0)
        return -1;
    form->has_stride = decoder->statement->operand_count == 3;
    places[0] = base;
    places[1] = 0;
    if (form->has_stride && source(decoder, operand_at(decoder, 2), TYPE_U32, 4, &places[1]) < 0)
        return -1;
    if (matrix_operand(decoder, is_store ? 1 : 0, form->registers, register_bytes(type), !is_store,
                       places + 2) < 0)
        return -1;
    emit(decoder, &instruction, places, 2 + form->registers);
    return 0;
}

/* wmma.mma.d.c of f16, or .d.a.b.c: d, a, b, c */
static int decode_product(struct decoder *decoder) {
    struct instruction instruction = {.execute = execute_multiply_fragments,
                                      .float_mode = FLOAT_ANY};
    struct wmma_form *form = &instruction.as.wmma;
    bool known = take(decoder, "sync") & take(decoder, "aligned");
    known = known && take_one_of(decoder, layouts) >= 0 && take_one_of(decoder, layouts) >= 0 &&
            take_shape(decoder, form) == 0;
    uint8_t mode = take_float_mode(decoder);
    form->saturates = take(decoder, "satfinite");
    enum type d = take_type(decoder), c = take_type(decoder), a = TYPE_F16;
    enum type third = take_type(decoder);
    if (third != TYPE_NONE) { /* d a b c */
        a = c;
        known = known && a == third;
        c = take_type(decoder);
    }
    if (!known || !is_known(form, WMMA_A, a) || !is_known(form, WMMA_ACCUMULATOR, d) ||
        !is_known(form, WMMA_ACCUMULATOR, c) || is_byte(a) != (d == TYPE_S32) ||
        is_byte(a) != (c == TYPE_S32) || (form->saturates && !is_byte(a)) ||
        expect_operands(decoder, 4, 4) < 0)
        return decode_fail(decoder, "this shape or these types are not known");
    if (is_byte(a) || a == TYPE_F64) {
        instruction.execute = execute_multiply_number_fragments;
        instruction.float_mode = mode;
    }
    form->type = a;
    form->half_result = d == TYPE_F16;
    form->half_accumulator = c == TYPE_F16;
    uint32_t places[4 * 8], *place = places;
    int counts[] = {fragment_registers(form, WMMA_ACCUMULATOR, d),
                    fragment_registers(form, WMMA_A, a), fragment_registers(form, WMMA_B, a),
                    fragment_registers(form, WMMA_ACCUMULATOR, c)};
    for (int i = 0; i < 4; place += counts[i++])
        if (matrix_operand(decoder, i, counts[i], register_bytes(a), i == 0, place) < 0)
            return -1;
    emit(decoder, &instruction, places, (int)(place - places));
    return 0;
}

DECODE(wmma) {
    (void)opcode;
    if (take(decoder, "load"))
        return decode_transfer(decoder, false);
    if (take(decoder, "store"))
        return decode_transfer(decoder, true);
    if (take(decoder, "mma"))
        return decode_product(decoder);
    return decode_fail(decoder, "this form is not known");
}
