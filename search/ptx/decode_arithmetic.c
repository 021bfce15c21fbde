/* Decodes arithmetic, comparisons, moves and conversions. */
#include "ptx/execute.h"
#include "ptx/opcodes.h"

#include <stdio.h>
#include <string.h>

static bool is_special_function(const char *name) {
    static const char *const names[] = {"ex2", "lg2", "rcp",  "rsqrt", "sqrt",
                                        "sin", "cos", "tanh", "div"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

/* .ftz of operations that the host's floating-point mode does not affect, since they move bits or
   select an operand. */
static bool needs_explicit_flush(const char *name) {
    return !strncmp(name, "abs", 3) || !strncmp(name, "neg", 3) || !strncmp(name, "min", 3) ||
           !strncmp(name, "max", 3);
}

/* slct of any type whose selector is an fp32. */
static bool selects_by_float(const char *name) {
    return !strcmp(name, "slct.f32");
}

/* Extended-precision arithmetic, PTX ISA 9.7.2: add, sub and mad with .cc, addc, subc and madc. The
   carry flag is an unnamed register of the thread. GPUs subtract by adding the complement, so their
   carry is 1 where PTX specifies no borrow; only code that mixes additions and subtractions
   observes the difference. */
DECODE(carry) {
    (void)instruction;
    struct slice word = decoder->parts[0];
    bool multiplies = *word.text == 'm', reads_carry = word.length == 4;
    bool writes_carry = take_modifier(decoder, "cc"),
         is_high = multiplies && take_modifier(decoder, "hi");
    bool is_supported =
        slice_is(word, "add") || slice_is(word, "sub") || slice_is(word, "mad") || reads_carry;
    is_supported = is_supported && (!multiplies || is_high || take_modifier(decoder, "lo"));
    const char *sum = *word.text == 's' ? "sub" : "add";
    enum type type = take_type(decoder);
    int bytes = type_bytes(type), count = multiplies ? 4 : 3;
    char name[32];
    uint32_t result, operands[3], places[4];
    if (!is_supported ||
        (type != TYPE_U32 && type != TYPE_S32 && type != TYPE_U64 && type != TYPE_S64))
        return decode_fail(decoder, "unsupported form");
    expect_operands(decoder, count, count);
    for (int i = 0; i + 1 < count; i++)
        operands[i] = decode_source(decoder, operand_at(decoder, 1 + i), type, bytes);
    result = decode_destination(decoder, operand_at(decoder, 0), bytes, type_is_signed(type));
    if (multiplies) {
        uint32_t product[] = {allocate_register(decoder, bytes), operands[0], operands[1]};
        emit_lane_operation(decoder, is_high ? "mul.hi" : "mul.lo", type, product);
        operands[0] = product[0];
        operands[1] = operands[2];
    }
    if (!decoder->has_carry)
        decoder->carry = allocate_register(decoder, 4);
    decoder->has_carry = true;
    /* The result register may also be an operand, which the carry computation reads. */
    memcpy(places + 1, operands, 2 * sizeof *operands);
    places[0] = allocate_register(decoder, bytes);
    places[3] = decoder->carry;
    snprintf(name, sizeof name, "carry of %s%s", sum, reads_carry ? " and carry" : "");
    emit_lane_operation(decoder, reads_carry ? name + strlen("carry of ") : sum, type, places);
    uint32_t moved[] = {result, places[0]};
    places[0] = decoder->carry;
    if (writes_carry)
        emit_lane_operation(decoder, name, type, places);
    emit_lane_operation(decoder, "mov", type, moved);
    return 0;
}

/* .ftz of f16, which the host's floating-point mode does not affect: operands and results are
   flushed explicitly. */
static uint32_t flush_half(struct decoder *decoder, enum type type, uint32_t place) {
    uint32_t places[] = {allocate_register(decoder, type_bytes(type)), place};
    emit_lane_operation(decoder, "flush", type, places);
    return places[0];
}

/* Selects the variant of a product that flushes its results itself. */
static void find_flushing_variant(const struct decoder *decoder, struct lanes_row *row,
                                  enum type type) {
    static const char *const names[][2] = {
        {"mul", "mul.flush"}, {"fma", "fma.flush"}, {"fma.relu", "fma.relu.flush"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(row->name, names[i][0]) == 0) {
            decoder->module->lanes.find(row, (struct slice){names[i][1], (int)strlen(names[i][1])},
                                        type);
            return;
        }
}

DECODE(arithmetic) {
    for (int i = 1; i < decoder->part_count; i++)
        if (decoder->parts[0].length == 3 && slice_is(decoder->parts[i], "cc"))
            return decode_carry(decoder, instruction);
    enum type type = take_type(decoder);
    uint8_t mode = take_float_mode(decoder);
    bool saturate = type_is_float(type) && take_modifier(decoder, "sat");
    /* approx.ftz.f64 is a separate operation. */
    if (type != TYPE_F64 || !(mode & FLOAT_FLUSH))
        take_modifier(decoder, "approx");
    take_modifier(decoder, "full");
    struct slice name = take_remaining_modifiers(decoder);
    struct lanes_row row;
    if (!decoder->module->lanes.find(&row, name, type))
        return decode_fail(decoder, "unsupported opcode or form");
    bool is_half = type == TYPE_F16 || type == TYPE_F16X2;
    bool flushes_half = is_half && (mode & FLOAT_FLUSH);
    if (is_half && (mode & FLOAT_ROUNDING) != FLOAT_NEAREST)
        return decode_fail(decoder, "unsupported rounding mode for f16");
    mode = flushes_half ? FLOAT_NEAREST : mode;
    if (flushes_half)
        find_flushing_variant(decoder, &row, type);
    if (expect_operands(decoder, row.input_count + 1, row.input_count + 1) < 0)
        return -1;
    *instruction = (struct instruction){
        .execute = execute_arithmetic,
        .lanes = row.function,
        .float_mode = type_is_float(type) || selects_by_float(row.name) ? mode : FLOAT_ANY,
        .input_count = (uint8_t)row.input_count,
        .width = (uint8_t)row.out_width,
        .type = (uint8_t)type,
        .saturate = saturate,
        .flush = type == TYPE_F32 && (mode & FLOAT_FLUSH) && needs_explicit_flush(row.name),
        .is_special_function = type == TYPE_F32 && is_special_function(row.name)};
    uint32_t places[1 + LANE_INPUTS_MAX];
    for (int i = 0; i < row.input_count; i++) {
        const struct operand *operand = operand_at(decoder, 1 + i);
        if (operand->negated)
            return decode_fail(decoder, "an operand cannot be negated");
        places[1 + i] = decode_source(decoder, operand, type, row.in_width[i]);
        if (flushes_half)
            places[1 + i] = flush_half(decoder, type, places[1 + i]);
    }
    places[0] =
        decode_destination(decoder, operand_at(decoder, 0), row.out_width, type_is_signed(type));
    emit_instruction(decoder, instruction, places, 1 + row.input_count);
    if (flushes_half)
        emit_lane_operation(decoder, "flush", type, (uint32_t[]){places[0], places[0]});
    return 0;
}

static const char *const combinations[] = {"and", "or", "xor", NULL};

static lanes_function take_comparison(struct decoder *decoder, enum type type) {
    for (int i = 1; i < decoder->part_count; i++) {
        lanes_function compare =
            decoder->taken[i] ? NULL : decoder->module->lanes.compare(decoder->parts[i], type);
        if (compare) {
            decoder->taken[i] = true;
            return compare;
        }
    }
    return NULL;
}

/* Decodes what setp and set share: the comparison, its two operands, and the combined predicate. */
static void decode_comparison(struct decoder *decoder, struct instruction *instruction,
                              enum type type, uint32_t *places) {
    uint8_t mode = take_float_mode(decoder);
    int bytes = type_bytes(type), combination = take_modifier_of(decoder, combinations);
    instruction->type = (uint8_t)type;
    instruction->float_mode = type == TYPE_F32 || type == TYPE_F64 ? mode : FLOAT_ANY;
    if (type_is_float(type) && instruction->float_mode == FLOAT_ANY) /* compared in fp32 */
        instruction->float_mode = FLOAT_NEAREST;
    instruction->lanes = take_comparison(decoder, type);
    if (!instruction->lanes)
        decode_fail(decoder, "unsupported comparison");
    else
        expect_operands(decoder, combination < 0 ? 3 : 4, combination < 0 ? 3 : 4);
    places[0] = decode_source(decoder, operand_at(decoder, 1), type, bytes);
    places[1] = decode_source(decoder, operand_at(decoder, 2), type, bytes);
    places[2] = places[0];
    if (combination < 0)
        return;
    instruction->as.compare.combination = (enum combination)(COMBINE_AND + combination);
    places[2] = decode_predicate(decoder, operand_at(decoder, 3),
                                 &instruction->as.compare.combined_is_negated);
}

DECODE(setp) {
    uint32_t places[5];
    enum type type = take_type(decoder);
    decode_comparison(decoder, instruction, type, places + 2);
    instruction->as.compare.has_second = decode_destination_pair(decoder, 0, places);
    return emit_instruction(decoder, instruction, places, 5);
}

DECODE(set) {
    uint32_t places[4];
    enum type result = take_type(decoder), type = take_type(decoder);
    int bytes = type_bytes(result);
    if (bytes != 2 && bytes != 4)
        return decode_fail(decoder, "unsupported form");
    instruction->width = (uint8_t)bytes;
    instruction->as.compare.result = result;
    decode_comparison(decoder, instruction, type, places + 1);
    places[0] = decode_destination(decoder, operand_at(decoder, 0), bytes, false);
    return emit_instruction(decoder, instruction, places, 4);
}

static int decode_vector_mov(struct decoder *decoder, enum type type, bool packs) {
    const struct operand *vector = operand_at(decoder, packs ? 1 : 0);
    const struct operand *whole = operand_at(decoder, packs ? 0 : 1);
    int bytes = type_bytes(type), count = vector->count, each = count ? bytes / count : 0;
    int width = each < 2 ? 2 : each; /* width of an element's register */
    if ((count != 2 && count != 4) || (each != 1 && each != 2 && each != 4))
        return decode_fail(decoder, "%d vector elements do not fill %d bytes", count, bytes);
    struct instruction instruction = {.execute = packs ? execute_pack : execute_unpack,
                                      .float_mode = FLOAT_ANY,
                                      .as.pack = {.element_bytes = each, .count = count}};
    uint32_t places[5], *element = packs ? places + 1 : places;
    for (int i = 0; i < count; i++) {
        const struct operand *operand = &vector->elements[i];
        element[i] = packs ? decode_source(decoder, operand, TYPE_NONE, width)
                           : decode_destination(decoder, operand, width, false);
    }
    if (packs)
        places[0] = decode_destination(decoder, whole, bytes, false);
    else
        places[count] = decode_source(decoder, whole, type, bytes);
    return emit_instruction(decoder, &instruction, places, count + 1);
}

/* mov.b128 between registers, or between a register and a pair of .b64 halves. */
static int decode_b128_mov(struct decoder *decoder) {
    uint32_t places[2][2];
    for (int i = 0; i < 2; i++) {
        const struct operand *operand = operand_at(decoder, i);
        bool is_pair = operand->kind == OPERAND_VECTOR && operand->count == 2;
        if (!is_pair)
            decode_b128_register(decoder, operand, places[i]);
        for (int half = 0; half < 2 && is_pair; half++)
            places[i][half] = i == 0
                                  ? decode_destination(decoder, &operand->elements[half], 8, false)
                                  : decode_source(decoder, &operand->elements[half], TYPE_B64, 8);
    }
    for (int half = 0; half < 2; half++)
        emit_lane_operation(decoder, "mov", TYPE_B64,
                            (uint32_t[]){places[0][half], places[1][half]});
    return 0;
}

DECODE(mov) {
    if (expect_operands(decoder, 2, 2) < 0)
        return -1;
    if (take_modifier(decoder, "b128"))
        return decode_b128_mov(decoder);
    bool unpacks = operand_at(decoder, 0)->kind == OPERAND_VECTOR;
    bool packs = operand_at(decoder, 1)->kind == OPERAND_VECTOR;
    if (unpacks || packs)
        return decode_vector_mov(decoder, take_type(decoder), packs);
    return decode_arithmetic(decoder, instruction);
}

static const char *const to_integer_words[] = {"rni", "rzi", "rmi", "rpi", NULL};

static bool is_fp8_pair(enum type type) {
    return type == TYPE_E4M3X2 || type == TYPE_E5M2X2;
}

/* Conversions to and from pairs of fp8. */
static int decode_fp8(struct decoder *decoder, struct conversion *conversion) {
    bool narrows = is_fp8_pair(conversion->to), saturates = take_modifier(decoder, "satfinite");
    enum type other = narrows ? conversion->from : conversion->to;
    int inputs = other == TYPE_F32 ? 2 : 1, width = narrows ? 2 : 4, from_bytes = narrows ? 4 : 2;
    uint32_t places[3];
    if (!take_modifier(decoder, "rn") || saturates != narrows || conversion->saturate ||
        !(other == TYPE_F16X2 || (narrows && other == TYPE_F32)) ||
        expect_operands(decoder, 1 + inputs, 1 + inputs) < 0)
        return decode_fail(decoder, "unsupported conversion");
    struct instruction instruction = {.execute = execute_conversion,
                                      .float_mode = FLOAT_NEAREST,
                                      .input_count = (uint8_t)inputs,
                                      .width = (uint8_t)width,
                                      .type = (uint8_t)conversion->to,
                                      .as.conversion = *conversion};
    for (int i = 0; i < inputs; i++)
        places[1 + i] = decode_source(decoder, operand_at(decoder, 1 + i),
                                      narrows ? other : TYPE_B16, from_bytes);
    if (inputs == 1)
        places[2] = places[1];
    places[0] = decode_destination(decoder, operand_at(decoder, 0), width, false);
    return emit_instruction(decoder, &instruction, places, 3);
}

/* cvt.pack.sat.TYPE.s32{.b32}: packs two numbers below an optional third. */
static int decode_cvt_pack(struct decoder *decoder) {
    struct lanes_row row;
    enum type to = take_type(decoder);
    uint32_t places[4];
    if (!take_modifier(decoder, "sat") || take_type(decoder) != TYPE_S32 ||
        !decoder->module->lanes.find(&row, (struct slice){"cvt.pack.sat", 12}, to))
        return decode_fail(decoder, "unsupported conversion");
    take_modifier(decoder, "b32");
    expect_operands(decoder, 1 + row.input_count, 1 + row.input_count);
    for (int i = 0; i < row.input_count; i++)
        places[1 + i] = decode_source(decoder, operand_at(decoder, 1 + i), TYPE_S32, 4);
    places[0] = decode_destination(decoder, operand_at(decoder, 0), 4, false);
    emit_lane_operation(decoder, "cvt.pack.sat", to, places);
    return 0;
}

DECODE(cvt) {
    if (take_modifier(decoder, "pack"))
        return decode_cvt_pack(decoder);
    struct conversion conversion = {.saturate = take_modifier(decoder, "sat"),
                                    .relu = take_modifier(decoder, "relu")};
    int to_integer = take_modifier_of(decoder, to_integer_words);
    conversion.to = take_type(decoder);
    conversion.from = take_type(decoder);
    if (is_fp8_pair(conversion.to) || is_fp8_pair(conversion.from))
        return decode_fp8(decoder, &conversion);
    if (to_integer >= 0)
        conversion.to_integer = (enum rounding_to_integer)(TO_INTEGER_NEAREST + to_integer);
    bool packs = conversion.to == TYPE_F16X2 || conversion.to == TYPE_BF16X2;
    bool to_half = packs || conversion.to == TYPE_F16 || conversion.to == TYPE_BF16;
    bool to_tf32 = conversion.to == TYPE_TF32;
    conversion.away = to_tf32 && take_modifier(decoder, "rna");
    conversion.finite = (to_tf32 || to_half) && take_modifier(decoder, "satfinite");
    uint8_t mode = take_float_mode(decoder);
    if (conversion.to == TYPE_NONE || conversion.from == TYPE_NONE ||
        type_bytes(conversion.to) > 8 || (packs && conversion.from != TYPE_F32) ||
        (!packs && (conversion.from == TYPE_F16X2 || conversion.from == TYPE_BF16X2)) ||
        conversion.to == TYPE_PRED || conversion.from == TYPE_PRED || is_fp8(conversion.to) ||
        is_fp8(conversion.from) || conversion.from == TYPE_TF32 ||
        (to_tf32 && conversion.from != TYPE_F32))
        return decode_fail(decoder, "unsupported conversion");
    bool flushes = (mode & FLOAT_FLUSH) && conversion.to == TYPE_F32 &&
                   (conversion.from == TYPE_F32 || conversion.from == TYPE_BF16);
    /* Conversions through fp16 need fp32 subnormals: flushing would lose them, and changes no
       result. */
    if (to_half || to_tf32 || conversion.from == TYPE_F16 || conversion.from == TYPE_BF16) {
        if (to_half || to_tf32)
            conversion.rounding = (enum float_mode)(mode & FLOAT_ROUNDING);
        mode = FLOAT_NEAREST;
    }
    int from_bytes = type_bytes(conversion.from), to_bytes = type_bytes(conversion.to);
    from_bytes = from_bytes < 2 ? 2 : from_bytes;
    to_bytes = to_bytes < 2 ? 2 : to_bytes;
    int inputs = packs ? 2 : 1;
    *instruction =
        (struct instruction){.execute = execute_arithmetic,
                             .lanes = decoder->module->lanes.convert_frequent(&conversion),
                             .float_mode = mode,
                             .input_count = (uint8_t)inputs,
                             .width = (uint8_t)to_bytes,
                             .type = (uint8_t)conversion.to,
                             .flush = flushes};
    if (!instruction->lanes) {
        instruction->execute = execute_conversion;
        instruction->as.conversion = conversion;
    }
    uint32_t places[3];
    expect_operands(decoder, 1 + inputs, 1 + inputs);
    for (int i = 0; i < inputs; i++)
        places[1 + i] =
            decode_source(decoder, operand_at(decoder, 1 + i), conversion.from, from_bytes);
    if (!packs)
        places[2] = places[1];
    places[0] = decode_destination(decoder, operand_at(decoder, 0), to_bytes,
                                   type_is_signed(conversion.to));
    return emit_instruction(decoder, instruction, places, 3);
}
