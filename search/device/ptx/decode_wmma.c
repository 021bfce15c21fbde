/* Decodes wmma (mma.h): PTX ISA 9.7.14.3 to 9.7.14.5. */
#include "device/ptx/execute.h"
#include "device/ptx/opcodes.h"

#include <string.h>

static const char *const shape_names[] = {"m16n16k16", "m32n8k16", "m8n32k16", "m16n16k8",
                                          "m8n8k4",    "m8n8k32",  "m8n8k128", NULL};

/* Supported shapes: integer width in bits, factor types (a, b) and accumulator types (c, d).
   Sub-byte integers are moved in 32-bit words, which k counts. */
#define BIT(type) (1u << TYPE_##type)
#define HALVES    BIT(F16) | BIT(BF16), BIT(F16) | BIT(F32) | BIT(S32)
static const struct shape {
    uint8_t m, n, k, bits;
    uint32_t factors, sums;
} shapes[] = {
    {16, 16, 16, 8, HALVES},          {32, 8, 16, 8, HALVES},
    {8, 32, 16, 8, HALVES},           {16, 16, 8, 0, BIT(TF32), BIT(F32)},
    {8, 8, 4, 0, BIT(F64), BIT(F64)}, {8, 8, 4, 4, 0, BIT(S32)},
    {8, 8, 4, 1, 0, BIT(S32)},
};

static const char *const layouts[] = {"row", "col", NULL};

/* Takes the shape; NULL if it is not supported. */
static const struct shape *take_shape(struct decoder *decoder, struct wmma_form *form) {
    int index = take_one_of(decoder, shape_names);
    if (index < 0)
        return NULL;
    form->m = shapes[index].m;
    form->n = shapes[index].n;
    form->k = shapes[index].k;
    return &shapes[index];
}

static bool is_known(const struct shape *shape, const struct wmma_form *form, enum wmma_part part,
                     enum type type) {
    if (part == WMMA_ACCUMULATOR)
        return shape->sums >> type & 1;
    return form->numbers.bits ? form->numbers.bits == shape->bits : shape->factors >> type & 1;
}

/* The type in which integers are moved. */
static enum type type_of_numbers(struct number_format format) {
    return format.bits < 8 ? TYPE_B32 : format.is_signed ? TYPE_S8 : TYPE_U8;
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
    const struct shape *shape = take_shape(decoder, form);
    if (!known || layout < 0 || !shape)
        return decode_fail(decoder, "unsupported form");
    form->where.space = take_space(decoder, SPACE_GENERIC);
    form->part = part > 2 ? WMMA_ACCUMULATOR : (enum wmma_part)part;
    form->column_major = layout == 1;
    enum type type = take_number_format(decoder, &form->numbers) ? type_of_numbers(form->numbers)
                                                                 : take_type(decoder);
    form->type = type;
    bool along_k = type != TYPE_B32 || form->column_major == (form->part == WMMA_B);
    if (!is_known(shape, form, form->part, type) || !along_k || expect_operands(decoder, 2, 3) < 0)
        return decode_fail(decoder, "unsupported shape or type");
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

/* For integers: the formats of a and b, which must be equal, and the operation on b1. */
static bool take_numbers(struct decoder *decoder, struct wmma_form *form) {
    struct number_format other;
    static const char *const operations[] = {"and", "xor", NULL};
    if (!take_number_format(decoder, &form->numbers) || !take_number_format(decoder, &other) ||
        other.bits != form->numbers.bits || other.is_signed != form->numbers.is_signed)
        return false;
    form->saturates = other.bits > 1 && take(decoder, "satfinite");
    int operation = other.bits == 1 ? take_one_of(decoder, operations) : 0;
    form->exclusive = operation == 1;
    return operation >= 0 && (other.bits > 1 || take(decoder, "popc"));
}

/* wmma.mma.d.c for f16, else .d.a.b.c; operands: d, a, b, c. */
static int decode_product(struct decoder *decoder) {
    struct instruction instruction = {.execute = execute_multiply_fragments,
                                      .float_mode = FLOAT_ANY};
    struct wmma_form *form = &instruction.as.wmma;
    bool known = take(decoder, "sync") & take(decoder, "aligned");
    known = known && take_one_of(decoder, layouts) >= 0 && take_one_of(decoder, layouts) >= 0;
    const struct shape *shape = take_shape(decoder, form);
    uint8_t mode = take_float_mode(decoder);
    enum type d = take_type(decoder), a = TYPE_F16, c;
    if (d == TYPE_S32) {
        known = known && take_numbers(decoder, form);
        a = type_of_numbers(form->numbers);
        c = take_type(decoder);
        known = known && c == d;
    } else {
        c = take_type(decoder);
        enum type third = take_type(decoder);
        if (third != TYPE_NONE) { /* types d, a, b, c */
            a = c;
            known = known && a == third;
            c = take_type(decoder);
        }
    }
    if (!known || !shape || !is_known(shape, form, WMMA_A, a) ||
        !is_known(shape, form, WMMA_ACCUMULATOR, d) ||
        !is_known(shape, form, WMMA_ACCUMULATOR, c) || (d == TYPE_S32) != (c == TYPE_S32) ||
        expect_operands(decoder, 4, 4) < 0)
        return decode_fail(decoder, "unsupported shape or types");
    if (d == TYPE_S32) {
        instruction.execute = execute_multiply_number_fragments;
    } else if (d == TYPE_F64) {
        instruction.execute = execute_multiply_double_fragments;
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
    return decode_fail(decoder, "unsupported form");
}
