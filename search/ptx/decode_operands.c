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

enum state_space take_space(struct decoder *decoder, enum state_space otherwise) {
    static const struct {
        const char *word;
        enum state_space space;
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

const struct binding *lookup_operand(struct decoder *decoder, const struct operand *operand) {
    return operand && operand->kind == OPERAND_NAME ? lookup_name(decoder, operand->name) : NULL;
}

static void fail_undeclared(struct decoder *decoder, int name) {
    struct slice slice = decoder->ast->names[name].slice;
    decode_fail(decoder, "'%.*s' is not declared", slice.length > 80 ? 80 : slice.length,
                slice.text);
}

const struct operand *vector_elements(struct decoder *decoder, const struct operand *operand,
                                      int count) {
    if (decoder->error->kind)
        return NULL;
    bool is_vector = operand->kind == OPERAND_VECTOR;
    if ((is_vector ? operand->count : 1) == count)
        return is_vector ? operand->elements : operand;
    decode_fail(decoder, "a vector operand has the wrong length");
    return NULL;
}

int decode_group_count(struct decoder *decoder) {
    const struct operand *groups = operand_at(decoder, 0);
    if (!groups || groups->kind != OPERAND_INTEGER || groups->bits > INT32_MAX)
        return decode_fail(decoder, "the number of groups is not an integer constant");
    return (int)groups->bits;
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

/* Emits a conversion between integer registers of different widths. */
static void emit_resize(struct decoder *decoder, uint32_t to, int to_bytes, uint32_t from,
                        int from_bytes, bool is_signed) {
    struct conversion conversion = {.from = integer_type(from_bytes, is_signed),
                                    .to = integer_type(to_bytes, false)};
    struct instruction instruction = {.execute = execute_arithmetic,
                                      .lanes = decoder->module->lanes.convert_frequent(&conversion),
                                      .float_mode = FLOAT_ANY,
                                      .input_count = 1,
                                      .width = (uint8_t)to_bytes};
    add_destination(decoder, to);
    emit_instruction(decoder, &instruction, (uint32_t[]){to, from}, 2);
}

void emit_widenings(struct decoder *decoder) {
    for (int i = 0; i < decoder->widening_count; i++) {
        const struct widening *widening = &decoder->widenings[i];
        emit_resize(decoder, widening->to, widening->to_bytes, widening->from, widening->from_bytes,
                    widening->is_signed);
    }
    decoder->widening_count = 0;
}

void emit_lane_operation(struct decoder *decoder, const char *name, enum type type,
                         const uint32_t *places) {
    struct lanes_row row;
    if (!decoder->module->lanes.find(&row, (struct slice){name, (int)strlen(name)}, type))
        BUG("no lane operation for '%s'", name);
    struct instruction instruction = {.execute = execute_arithmetic,
                                      .lanes = row.function,
                                      .float_mode = FLOAT_ANY,
                                      .input_count = (uint8_t)row.input_count,
                                      .width = (uint8_t)row.out_width,
                                      .type = (uint8_t)type};
    add_destination(decoder, places[0]);
    emit_instruction(decoder, &instruction, places, 1 + row.input_count);
}

/* Reads a register, narrowed if it is wider. A register with an offset (x + 4) becomes an addition.
 */
static uint32_t read_register(struct decoder *decoder, struct binding binding, uint64_t offset,
                              int bytes) {
    uint32_t place = binding.place;
    if (binding.bytes < bytes || binding.bytes > 8 || (bytes == 0) != (binding.bytes == 0))
        decode_fail(decoder, "an operand's register is of the wrong size");
    if (decoder->error->kind)
        return 0;
    if (offset && binding.bytes) {
        uint32_t places[] = {allocate_register(decoder, binding.bytes), place,
                             allocate_constant(decoder, offset, binding.bytes)};
        emit_lane_operation(decoder, "add", integer_type(binding.bytes, false), places);
        place = places[0];
    }
    if (binding.bytes > bytes && bytes) {
        uint32_t narrow = allocate_register(decoder, bytes);
        emit_resize(decoder, narrow, bytes, place, binding.bytes, false);
        place = narrow;
    }
    return place;
}

uint32_t decode_source(struct decoder *decoder, const struct operand *operand, enum type type,
                       int bytes) {
    if (decoder->error->kind)
        return 0;
    switch (operand->kind) {
    case OPERAND_INTEGER:
    case OPERAND_FLOAT32:
    case OPERAND_FLOAT64:
        return allocate_constant(decoder,
                                 bytes           ? immediate_bits(operand, type)
                                 : operand->bits ? ~0ull
                                                 : 0,
                                 bytes);
    case OPERAND_NAME: {
        const struct binding *found = lookup_name(decoder, operand->name);
        if (!found && bytes == 8 && ast_find_function(decoder->ast, operand->name))
            return allocate_constant(decoder, function_address(operand->name), bytes);
        if (!found) {
            fail_undeclared(decoder, operand->name);
            return 0;
        }
        struct binding binding = *found;
        uint64_t offset = binding.offset + operand->bits;
        if (binding.kind == BINDING_REGISTER)
            return read_register(decoder, binding, operand->bits, bytes);
        if (binding.kind != BINDING_VARIABLE || bytes < 4)
            decode_fail(decoder, "an operand is not a value");
        if (!binding.in_frame)
            return allocate_constant(decoder, offset, bytes);
        binding.place = decoder->kernel->frame;
        binding.bytes = 8;
        return read_register(decoder, binding, offset, bytes);
    }
    default:
        decode_fail(decoder, "an operand is neither a register nor a number");
        return 0;
    }
}

uint32_t decode_predicate(struct decoder *decoder, const struct operand *operand, bool *negated) {
    if (decoder->error->kind)
        return 0;
    *negated = operand->negated;
    return decode_source(decoder, operand, TYPE_PRED, 0);
}

static uint32_t find_destination(struct decoder *decoder, const struct operand *operand, int bytes,
                                 bool is_signed) {
    if (decoder->error->kind)
        return 0;
    if (operand->kind == OPERAND_SINK)
        return allocate_register(decoder, bytes);
    const struct binding *found = lookup_operand(decoder, operand);
    if (!found && operand->kind == OPERAND_NAME)
        fail_undeclared(decoder, operand->name);
    else if (!found || found->kind != BINDING_REGISTER || operand->bits)
        decode_fail(decoder, "the result is not a register");
    else if ((bytes == 0) != (found->bytes == 0) || found->bytes < bytes || found->bytes > 8)
        decode_fail(decoder, "the result's register is of the wrong size");
    if (decoder->error->kind)
        return 0;
    if (found->bytes == bytes)
        return found->place;
    struct widening widening = {
        .to = found->place, .to_bytes = found->bytes, .from_bytes = bytes, .is_signed = is_signed};
    const int most = sizeof decoder->widenings / sizeof *decoder->widenings;
    if (decoder->widening_count == most) {
        decode_fail(decoder, "has too many results that are narrower than their registers");
        return 0;
    }
    widening.from = allocate_register(decoder, bytes);
    decoder->widenings[decoder->widening_count++] = widening;
    return widening.from;
}

uint32_t decode_destination(struct decoder *decoder, const struct operand *operand, int bytes,
                            bool is_signed) {
    uint32_t place = find_destination(decoder, operand, bytes, is_signed);
    add_destination(decoder, place);
    return place;
}

bool decode_destination_pair(struct decoder *decoder, int bytes, uint32_t places[2]) {
    const struct operand *result = operand_at(decoder, 0), *second = NULL;
    if (result && result->kind == OPERAND_PAIR) {
        second = &result->elements[1];
        result = &result->elements[0];
    }
    places[0] = decode_destination(decoder, result, bytes, false);
    places[1] = second ? decode_destination(decoder, second, 0, false) : 0;
    return second;
}

void decode_b128_register(struct decoder *decoder, const struct operand *operand,
                          uint32_t halves[2]) {
    if (decoder->error->kind)
        return;
    const struct binding *found = lookup_operand(decoder, operand);
    if (operand->kind != OPERAND_SINK &&
        (!found || found->kind != BINDING_REGISTER || found->bytes != 16 || operand->bits))
        decode_fail(decoder, "an operand is not a 128-bit register");
    halves[0] = found ? found->place : allocate_register(decoder, 16);
    halves[1] = halves[0] + 8 * LANES;
}

uint32_t decode_address(struct decoder *decoder, const struct operand *operand,
                        struct access *access) {
    if (decoder->error->kind)
        return 0;
    access->base_bytes = 0;
    access->offset = (int64_t)operand->bits;
    bool is_address = operand->kind == OPERAND_ADDRESS;
    if (is_address && operand->name < 0)
        return 0;
    const struct binding *found = is_address ? lookup_name(decoder, operand->name) : NULL;
    if (is_address && !found)
        fail_undeclared(decoder, operand->name);
    else if (!is_address || (found->kind != BINDING_REGISTER && found->kind != BINDING_VARIABLE))
        decode_fail(decoder, "an operand is not an [address]");
    else if (found->kind == BINDING_REGISTER && found->bytes != 4 && found->bytes != 8)
        decode_fail(decoder, "an address is in a register of %d bytes", found->bytes);
    if (decoder->error->kind)
        return 0;
    if (found->kind == BINDING_REGISTER) {
        access->base_bytes = (uint8_t)found->bytes;
        return found->place;
    }
    /* .param of a call is local memory here; a variable named without a state space uses its own.
     */
    if (access->space == SPACE_PARAM || access->space == SPACE_GENERIC)
        access->space = found->space;
    access->offset += (int64_t)found->offset;
    access->base_bytes = found->in_frame ? 8 : 0;
    return found->in_frame ? decoder->kernel->frame : 0;
}
