/* Modifiers and operands of the current statement. */
#include "ptx/decode.h"

#include "ptx/execute.h"
#include "ptx/half.h"

#include <string.h>

/* ---- Modifiers ---- */

bool take_modifier(struct decoder *decoder, const char *modifier) {
    for (int i = 1; i < decoder->part_count; i++)
        if (!decoder->taken[i] && slice_is(decoder->parts[i], modifier))
            return decoder->taken[i] = true;
    return false;
}

int take_modifier_of(struct decoder *decoder, const char *const *modifiers) {
    for (int i = 0; modifiers[i]; i++)
        if (take_modifier(decoder, modifiers[i]))
            return i;
    return -1;
}

void take_modifiers_with_prefix(struct decoder *decoder, const char *prefix) {
    size_t length = strlen(prefix);
    for (int i = 1; i < decoder->part_count; i++)
        if ((size_t)decoder->parts[i].length >= length &&
            memcmp(decoder->parts[i].text, prefix, length) == 0)
            decoder->taken[i] = true;
}

enum type take_type(struct decoder *decoder) {
    for (int i = 1; i < decoder->part_count; i++) {
        if (decoder->taken[i])
            continue;
        enum type type = type_parse(decoder->parts[i].text, decoder->parts[i].length);
        if (type == TYPE_NONE)
            continue;
        decoder->taken[i] = true;
        return type;
    }
    return TYPE_NONE;
}

enum space take_space(struct decoder *decoder, enum space otherwise) {
    static const struct {
        const char *word;
        enum space space;
    } spaces[] = {{"global", SPACE_GLOBAL},      {"shared", SPACE_SHARED},
                  {"shared::cta", SPACE_SHARED}, {"shared::cluster", SPACE_CLUSTER},
                  {"const", SPACE_CONST},        {"local", SPACE_LOCAL},
                  {"param", SPACE_PARAM},        {"param::entry", SPACE_PARAM},
                  {"param::func", SPACE_PARAM}};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (take_modifier(decoder, spaces[i].word))
            return spaces[i].space;
    return otherwise;
}

uint8_t take_float_mode(struct decoder *decoder) {
    static const char *const roundings[] = {"rn", "rz", "rm", "rp", NULL};
    int rounding = take_modifier_of(decoder, roundings);
    return (uint8_t)((rounding < 0 ? FLOAT_NEAREST : rounding) |
                     (take_modifier(decoder, "ftz") ? FLOAT_FLUSH : 0));
}

struct slice take_remaining_modifiers(struct decoder *decoder) {
    char joined[128];
    size_t used = 0;
    for (int i = 0; i < decoder->part_count; i++) {
        struct slice part = decoder->parts[i];
        if ((i && decoder->taken[i]) || used + (size_t)part.length + 1 >= sizeof joined)
            continue;
        if (i)
            joined[used++] = '.';
        memcpy(joined + used, part.text, (size_t)part.length);
        used += (size_t)part.length;
        decoder->taken[i] = true;
    }
    char *copy = arena_alloc(decoder->ast->arena, used + 1);
    memcpy(copy, joined, used);
    return (struct slice){copy, (int)used};
}

/* ---- Operands ---- */

int expect_operands(struct decoder *decoder, int least, int most) {
    int count = decoder->statement->operand_count;
    if (count >= least && count <= most)
        return 0;
    return decode_fail(decoder, "has %d operands", count);
}

const struct operand *operand_at(struct decoder *decoder, int index) {
    return index < decoder->statement->operand_count ? &decoder->statement->operands[index] : NULL;
}

static int fail_undeclared(struct decoder *decoder, int name) {
    struct slice slice = decoder->ast->names[name].slice;
    return decode_fail(decoder, "'%.*s' is not declared", slice.length > 80 ? 80 : slice.length,
                       slice.text);
}

/* Converts an immediate to the instruction's type. */
static uint64_t immediate_bits(const struct operand *operand, enum type type) {
    double value;
    if (operand->kind == OPERAND_FLOAT32)
        value = bits_float((uint32_t)operand->bits);
    else if (operand->kind == OPERAND_FLOAT64)
        value = bits_double(operand->bits);
    else
        return operand->bits;
    switch (type) {
    case TYPE_F64:
        return operand->kind == OPERAND_FLOAT64 ? operand->bits : double_bits(value);
    case TYPE_F32:
        return operand->kind == OPERAND_FLOAT32 ? operand->bits : float_bits((float)value);
    case TYPE_F16:
        return float_to_half((float)value);
    case TYPE_BF16:
        return float_to_bfloat((float)value);
    default:
        return operand->bits;
    }
}

static uint32_t convert_register(struct decoder *decoder, uint32_t from, enum type from_type,
                                 enum type to_type) {
    struct instruction cvt = {.execute = execute_arithmetic,
                              .float_mode = FLOAT_ANY,
                              .input_count = 1,
                              .width = (uint8_t)type_bytes(to_type)};
    struct conversion conversion = {.from = from_type, .to = to_type};
    cvt.lanes = decoder->module->lanes.convert_frequent(&conversion);
    uint32_t places[2] = {allocate_register(decoder, cvt.width), from};
    emit_instruction(decoder, &cvt, places, 2);
    return places[0];
}

static enum type integer_type(int bytes, bool is_signed) {
    switch (bytes) {
    case 2:
        return is_signed ? TYPE_S16 : TYPE_U16;
    case 4:
        return is_signed ? TYPE_S32 : TYPE_U32;
    default:
        return is_signed ? TYPE_S64 : TYPE_U64;
    }
}

/* Reads a register, narrowed if it is wider. A register with an offset (x + 4) becomes an addition.
 */
static int read_register(struct decoder *decoder, struct binding binding, uint64_t offset,
                         int bytes, uint32_t *place) {
    *place = binding.place;
    if (binding.bytes < bytes || binding.bytes > 8 || (bytes == 0) != (binding.bytes == 0))
        return decode_fail(decoder, "an operand's register is of the wrong size");
    if (offset && binding.bytes) {
        struct lanes_row row;
        if (!decoder->module->lanes.find(&row, (struct slice){"add", 3},
                                         integer_type(binding.bytes, false)))
            return decode_fail(decoder, "an offset does not fit its operand");
        struct instruction add = {.execute = execute_arithmetic,
                                  .lanes = row.function,
                                  .float_mode = FLOAT_ANY,
                                  .input_count = 2,
                                  .width = (uint8_t)binding.bytes};
        uint32_t places[3] = {allocate_register(decoder, binding.bytes), *place,
                              allocate_constant(decoder, offset, binding.bytes)};
        emit_instruction(decoder, &add, places, 3);
        *place = places[0];
    }
    if (binding.bytes > bytes && bytes)
        *place = convert_register(decoder, *place, integer_type(binding.bytes, false),
                                  integer_type(bytes, false));
    return 0;
}

int decode_source(struct decoder *decoder, const struct operand *operand, enum type type, int bytes,
                  uint32_t *place) {
    switch (operand->kind) {
    case OPERAND_INTEGER:
    case OPERAND_FLOAT32:
    case OPERAND_FLOAT64:
        *place = allocate_constant(decoder,
                                   bytes           ? immediate_bits(operand, type)
                                   : operand->bits ? ~0ull
                                                   : 0,
                                   bytes);
        return 0;
    case OPERAND_NAME: {
        const struct binding *found = lookup_name(decoder, operand->name);
        if (!found && bytes == 8 && ast_find_function(decoder->ast, operand->name)) {
            *place = allocate_constant(decoder, function_address(operand->name), bytes);
            return 0;
        }
        if (!found)
            return fail_undeclared(decoder, operand->name);
        struct binding binding = *found;
        if (binding.kind == BINDING_REGISTER)
            return read_register(decoder, binding, operand->bits, bytes, place);
        if (binding.kind != BINDING_VARIABLE || bytes < 4)
            return decode_fail(decoder, "an operand is not a value");
        if (binding.in_frame) { /* its address is relative to the frame */
            binding.place = decoder->kernel->frame;
            binding.bytes = 8;
            return read_register(decoder, binding, binding.offset + operand->bits, bytes, place);
        }
        *place = allocate_constant(decoder, binding.offset + operand->bits, bytes);
        return 0;
    }
    default:
        return decode_fail(decoder, "an operand is neither a register nor a number");
    }
}

int decode_predicate(struct decoder *decoder, const struct operand *operand, bool *negated,
                     uint32_t *place) {
    *negated = operand->negated;
    return decode_source(decoder, operand, TYPE_PRED, 0, place);
}

int decode_destination(struct decoder *decoder, const struct operand *operand, int bytes,
                       bool is_signed, uint32_t *place) {
    if (operand->kind == OPERAND_SINK) {
        *place = allocate_register(decoder, bytes);
        return 0;
    }
    const struct binding *found =
        operand->kind == OPERAND_NAME ? lookup_name(decoder, operand->name) : NULL;
    if (!found && operand->kind == OPERAND_NAME)
        return fail_undeclared(decoder, operand->name);
    if (!found || found->kind != BINDING_REGISTER || operand->bits)
        return decode_fail(decoder, "the result is not a register");
    struct binding binding = *found;
    if ((bytes == 0) != (binding.bytes == 0) || binding.bytes < bytes || binding.bytes > 8)
        return decode_fail(decoder, "the result's register is of the wrong size");
    *place = binding.place;
    if (binding.bytes == bytes)
        return 0;
    const int most = sizeof decoder->widenings / sizeof *decoder->widenings;
    if (decoder->widening_count == most)
        return decode_fail(decoder, "has too many results that are narrower than their registers");
    *place = allocate_register(decoder, bytes);
    decoder->widenings[decoder->widening_count].from = *place;
    decoder->widenings[decoder->widening_count].to = binding.place;
    decoder->widenings[decoder->widening_count].from_bytes = bytes;
    decoder->widenings[decoder->widening_count].to_bytes = binding.bytes;
    decoder->widenings[decoder->widening_count++].is_signed = is_signed;
    return 0;
}

int decode_b128_register(struct decoder *decoder, const struct operand *operand,
                         uint32_t halves[2]) {
    const struct binding *found =
        operand->kind == OPERAND_NAME ? lookup_name(decoder, operand->name) : NULL;
    if (operand->kind != OPERAND_SINK &&
        (!found || found->kind != BINDING_REGISTER || found->bytes != 16 || operand->bits))
        return decode_fail(decoder, "an operand is not a 128-bit register");
    halves[0] = found ? found->place : allocate_register(decoder, 16);
    halves[1] = halves[0] + 8 * LANES;
    return 0;
}

int decode_address(struct decoder *decoder, const struct operand *operand, struct access *access,
                   uint32_t *base) {
    access->base_bytes = 0;
    access->offset = (int64_t)operand->bits;
    *base = 0;
    if (operand->kind != OPERAND_ADDRESS)
        return decode_fail(decoder, "an operand is not an [address]");
    if (operand->name < 0)
        return 0;
    const struct binding *found = lookup_name(decoder, operand->name);
    if (!found)
        return fail_undeclared(decoder, operand->name);
    if (found->kind == BINDING_REGISTER) {
        if (found->bytes != 4 && found->bytes != 8)
            return decode_fail(decoder, "an address is in a register of %d bytes", found->bytes);
        access->base_bytes = (uint8_t)found->bytes;
        *base = found->place;
        return 0;
    }
    if (found->kind != BINDING_VARIABLE)
        return decode_fail(decoder, "an operand is not an [address]");
    /* .param of a call is local memory here; a variable named without a state space uses its own.
     */
    if (access->space == SPACE_PARAM || access->space == SPACE_GENERIC)
        access->space = found->space;
    access->offset += (int64_t)found->offset;
    if (found->in_frame) {
        access->base_bytes = 8;
        *base = decoder->kernel->frame;
    }
    return 0;
}
