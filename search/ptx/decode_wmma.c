/* Decodes wmma (mma.h): PTX ISA 9.7.14.3 to 9.7.14.5. */
#include "ptx/execute.h"
#include "ptx/opcodes.h"

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
    int index = take_modifier_of(decoder, shape_names);
    if (index < 0)
        return NULL;
    form->m = shapes[index].m;
    form->n = shapes[index].n;
    form->k = shapes[index].k;
    return &shapes[index];
}

static bool shape_supports_type(const struct shape *shape, const struct wmma_form *form,
                                enum wmma_part part, enum type type) {
    if (part == WMMA_ACCUMULATOR)
        return shape->sums >> type & 1;
    return form->integer.bits ? form->integer.bits == shape->bits : shape->factors >> type & 1;
}

/* The type in which integers are moved. */
static enum type transfer_type(struct integer_format format) {
    return format.bits < 8 ? TYPE_B32 : format.is_signed ? TYPE_S8 : TYPE_U8;
}

static int register_bytes(enum type type) {
    return type == TYPE_F64 ? 8 : 4;
}

/* wmma.load: d, [p], stride; wmma.store: [p], d, stride. */
static int decode_wmma_load_or_store(struct decoder *decoder, bool is_store) {
    struct instruction instruction =
        new_instruction(is_store ? execute_wmma_store : execute_wmma_load);
    struct wmma_form *form = &instruction.as.wmma;
    static const char *const parts[] = {"a", "b", "c", "d", NULL};
    int part = take_modifier_of(decoder, parts);
    bool is_supported =
        part >= 0 && take_modifier(decoder, "sync") & take_modifier(decoder, "aligned");
    int layout = take_modifier_of(decoder, layouts);
    const struct shape *shape = take_shape(decoder, form);
    if (!is_supported || layout < 0 || !shape)
        return decode_fail(decoder, "unsupported form");
    form->where.space = take_space(decoder, SPACE_GENERIC);
    form->part = part > 2 ? WMMA_ACCUMULATOR : (enum wmma_part)part;
    form->column_major = layout == 1;
    enum type type = take_integer_format(decoder, &form->integer) ? transfer_type(form->integer)
                                                                  : take_type(decoder);
    form->type = type;
    bool along_k = type != TYPE_B32 || form->column_major == (form->part == WMMA_B);
    if (!shape_supports_type(shape, form, form->part, type) || !along_k ||
        expect_operands(decoder, 2, 3) < 0)
        return decode_fail(decoder, "unsupported shape or type");
    form->registers = (uint8_t)wmma_fragment_registers(form, form->part, type);
    uint32_t places[2 + 8] = {
        decode_address(decoder, operand_at(decoder, is_store ? 0 : 1), &form->where)};
    form->has_stride = decoder->statement->operand_count == 3;
    if (form->has_stride)
        places[1] = decode_source(decoder, operand_at(decoder, 2), TYPE_U32, 4);
    decode_matrix_operand(decoder, is_store ? 1 : 0, form->registers, register_bytes(type),
                          !is_store, places + 2);
    return emit_instruction(decoder, &instruction, places, 2 + form->registers);
}

/* For integers: the formats of a and b, which must be equal, and the operation on b1. */
static bool take_integer_formats(struct decoder *decoder, struct wmma_form *form) {
    struct integer_format other;
    static const char *const operations[] = {"and", "xor", NULL};
    if (!take_integer_format(decoder, &form->integer) || !take_integer_format(decoder, &other) ||
        other.bits != form->integer.bits || other.is_signed != form->integer.is_signed)
        return false;
    form->saturates = other.bits > 1 && take_modifier(decoder, "satfinite");
    int operation = other.bits == 1 ? take_modifier_of(decoder, operations) : 0;
    form->is_xor = operation == 1;
    return operation >= 0 && (other.bits > 1 || take_modifier(decoder, "popc"));
}

/* wmma.mma.d.c for f16, else .d.a.b.c; operands: d, a, b, c. */
static int decode_wmma_mma(struct decoder *decoder) {
    struct instruction instruction = new_instruction(execute_wmma_mma);
    struct wmma_form *form = &instruction.as.wmma;
    bool is_supported = take_modifier(decoder, "sync") & take_modifier(decoder, "aligned");
    is_supported = is_supported && take_modifier_of(decoder, layouts) >= 0 &&
                   take_modifier_of(decoder, layouts) >= 0;
    const struct shape *shape = take_shape(decoder, form);
    uint8_t mode = take_float_mode(decoder);
    enum type d = take_type(decoder), a = TYPE_F16, c;
    if (d == TYPE_S32) {
        is_supported = is_supported && take_integer_formats(decoder, form);
        a = transfer_type(form->integer);
        c = take_type(decoder);
        is_supported = is_supported && c == d;
    } else {
        c = take_type(decoder);
        enum type third = take_type(decoder);
        if (third != TYPE_NONE) { /* types d, a, b, c */
            a = c;
            is_supported = is_supported && a == third;
            c = take_type(decoder);
        }
    }
    if (!is_supported || !shape || !shape_supports_type(shape, form, WMMA_A, a) ||
        !shape_supports_type(shape, form, WMMA_ACCUMULATOR, d) ||
        !shape_supports_type(shape, form, WMMA_ACCUMULATOR, c) ||
        (d == TYPE_S32) != (c == TYPE_S32) || expect_operands(decoder, 4, 4) < 0)
        return decode_fail(decoder, "unsupported shape or types");
    if (d == TYPE_S32) {
        instruction.execute = execute_wmma_mma_int;
    } else if (d == TYPE_F64) {
        instruction.execute = execute_wmma_mma_double;
        instruction.float_mode = mode;
    }
    form->type = a;
    form->half_result = d == TYPE_F16;
    form->half_accumulator = c == TYPE_F16;
    int counts[] = {wmma_fragment_registers(form, WMMA_ACCUMULATOR, d),
                    wmma_fragment_registers(form, WMMA_A, a),
                    wmma_fragment_registers(form, WMMA_B, a),
                    wmma_fragment_registers(form, WMMA_ACCUMULATOR, c)};
    return emit_mma(decoder, &instruction, counts, register_bytes(a), NULL);
}

DECODE(wmma) {
    (void)instruction;
    if (take_modifier(decoder, "load"))
        return decode_wmma_load_or_store(decoder, false);
    if (take_modifier(decoder, "store"))
        return decode_wmma_load_or_store(decoder, true);
    if (take_modifier(decoder, "mma"))
        return decode_wmma_mma(decoder);
    return decode_fail(decoder, "unsupported form");
}
