/* The table of opcodes, and how each kind of them is decoded. What is not in the table is looked
   for among the rows of lane arithmetic (arithmetic.inc). */
#include "device/ptx/decode.h"

#include "device/ptx/execute.h"

#include <string.h>

/* All instructions that begin with a word. `variant` tells those apart that share a function. */
struct opcode {
    const char *name;
    int (*decode)(struct decoder *decoder, const struct opcode *opcode);
    execute_function execute;
    int variant;
};

#define DECODE(name) static int decode_##name(struct decoder *decoder, const struct opcode *opcode)

static struct instruction instruction_of(const struct opcode *opcode) {
    return (struct instruction){.execute = opcode->execute, .float_mode = FLOAT_ANY};
}

/* ---- Arithmetic ---- */

static bool is_special_function(const char *name) {
    static const char *const names[] = {"ex2", "lg2", "rcp",  "rsqrt", "sqrt",
                                        "sin", "cos", "tanh", "div"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

/* .ftz of operations that the machine's mode does not reach: they move bits or choose an operand.
 */
static bool needs_flush(const char *name) {
    return !strncmp(name, "abs", 3) || !strncmp(name, "neg", 3) || !strncmp(name, "min", 3) ||
           !strncmp(name, "max", 3);
}

DECODE(arithmetic) {
    (void)opcode;
    enum type type = take_type(decoder);
    uint8_t mode = take_float_mode(decoder);
    bool saturate = type_is_float(type) && take(decoder, "sat");
    take(decoder, "approx");
    take(decoder, "full");
    struct slice name = take_rest(decoder);
    struct lanes_row row;
    if (!decoder->module->lanes.find(&row, name, type))
        return decode_fail(decoder, "this opcode, or this form of it, is not known");
    bool is_half = type == TYPE_F16 || type == TYPE_F16X2;
    if (is_half && mode != FLOAT_NEAREST)
        return decode_fail(decoder, "f16 arithmetic that rounds or flushes so is not known");
    if (expect_operands(decoder, row.input_count + 1, row.input_count + 1) < 0)
        return -1;
    struct instruction instruction = {
        .execute = execute_arithmetic,
        .lanes = row.function,
        .float_mode = type_is_float(type) ? mode : FLOAT_ANY,
        .input_count = (uint8_t)row.input_count,
        .width = (uint8_t)row.out_width,
        .type = (uint8_t)type,
        .saturate = saturate,
        .flush = type == TYPE_F32 && (mode & FLOAT_FLUSH) && needs_flush(row.name),
        .is_special_function = type == TYPE_F32 && is_special_function(row.name)};
    uint32_t places[1 + LANE_INPUTS_MAX];
    for (int i = 0; i < row.input_count; i++) {
        const struct operand *operand = operand_at(decoder, 1 + i);
        if (operand->negated)
            return decode_fail(decoder, "an operand cannot be negated");
        if (source(decoder, operand, type, row.in_width[i], &places[1 + i]) < 0)
            return -1;
    }
    if (destination(decoder, operand_at(decoder, 0), row.out_width, type_is_signed(type),
                    &places[0]) < 0)
        return -1;
    emit(decoder, &instruction, places, 1 + row.input_count);
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

/* The parts that setp and set share: the comparison, its two operands, and the predicate behind it.
 */
static int decode_comparison(struct decoder *decoder, struct instruction *instruction,
                             enum type type, uint32_t *places) {
    uint8_t mode = take_float_mode(decoder);
    int bytes = type_bytes(type), combination = take_one_of(decoder, combinations);
    instruction->type = (uint8_t)type;
    instruction->float_mode = type == TYPE_F32 || type == TYPE_F64 ? mode : FLOAT_ANY;
    if (type == TYPE_F16 || type == TYPE_F16X2)
        instruction->float_mode = FLOAT_NEAREST;
    instruction->lanes = take_comparison(decoder, type);
    if (!instruction->lanes)
        return decode_fail(decoder, "this comparison is not known");
    if (expect_operands(decoder, combination < 0 ? 3 : 4, combination < 0 ? 3 : 4) < 0 ||
        source(decoder, operand_at(decoder, 1), type, bytes, &places[0]) < 0 ||
        source(decoder, operand_at(decoder, 2), type, bytes, &places[1]) < 0)
        return -1;
    places[2] = places[0];
    if (combination < 0)
        return 0;
    instruction->as.compare.combination = (enum combination)(COMBINE_AND + combination);
    return predicate_source(decoder, operand_at(decoder, 3),
                            &instruction->as.compare.combined_negated, &places[2]);
}

DECODE(setp) {
    struct instruction instruction = instruction_of(opcode);
    uint32_t places[5];
    enum type type = take_type(decoder);
    if (decode_comparison(decoder, &instruction, type, places + 2) < 0)
        return -1;
    const struct operand *result = operand_at(decoder, 0), *second = NULL;
    if (result->kind == OPERAND_PAIR) {
        second = &result->elements[1];
        result = &result->elements[0];
        instruction.as.compare.has_second = true;
    }
    places[1] = 0;
    if (destination(decoder, result, 0, false, &places[0]) < 0 ||
        (second && destination(decoder, second, 0, false, &places[1]) < 0))
        return -1;
    emit(decoder, &instruction, places, 5);
    return 0;
}

DECODE(set) {
    struct instruction instruction = instruction_of(opcode);
    uint32_t places[4];
    enum type result = take_type(decoder), type = take_type(decoder);
    int bytes = type_bytes(result);
    if (bytes != 2 && bytes != 4)
        return decode_fail(decoder, "this form is not known");
    instruction.width = (uint8_t)bytes;
    instruction.as.compare.result = result;
    if (decode_comparison(decoder, &instruction, type, places + 1) < 0 ||
        destination(decoder, operand_at(decoder, 0), bytes, false, &places[0]) < 0)
        return -1;
    emit(decoder, &instruction, places, 4);
    return 0;
}

/* ---- Moves and conversions ---- */

static int decode_vector_mov(struct decoder *decoder, enum type type, bool packs) {
    const struct operand *vector = operand_at(decoder, packs ? 1 : 0);
    const struct operand *whole = operand_at(decoder, packs ? 0 : 1);
    int bytes = type_bytes(type), count = vector->count, each = count ? bytes / count : 0;
    if ((count != 2 && count != 4) || (each != 2 && each != 4))
        return decode_fail(decoder, "a vector of %d elements does not make %d bytes", count, bytes);
    struct instruction instruction = {.execute = packs ? execute_pack : execute_unpack,
                                      .float_mode = FLOAT_ANY,
                                      .as.pack = {.element_bytes = each, .count = count}};
    uint32_t places[5], *element = packs ? places + 1 : places;
    for (int i = 0; i < count; i++) {
        const struct operand *operand = &vector->elements[i];
        if (packs ? source(decoder, operand, TYPE_NONE, each, &element[i])
                  : destination(decoder, operand, each, false, &element[i]))
            return -1;
    }
    if (packs ? destination(decoder, whole, bytes, false, &places[0])
              : source(decoder, whole, type, bytes, &places[count]))
        return -1;
    emit(decoder, &instruction, places, count + 1);
    return 0;
}

DECODE(mov) {
    if (expect_operands(decoder, 2, 2) < 0)
        return -1;
    bool unpacks = operand_at(decoder, 0)->kind == OPERAND_VECTOR;
    bool packs = operand_at(decoder, 1)->kind == OPERAND_VECTOR;
    if (unpacks || packs)
        return decode_vector_mov(decoder, take_type(decoder), packs);
    return decode_arithmetic(decoder, opcode);
}

static const char *const to_integer_words[] = {"rni", "rzi", "rmi", "rpi", NULL};

DECODE(cvt) {
    (void)opcode;
    struct conversion conversion = {.saturate = take(decoder, "sat"),
                                    .relu = take(decoder, "relu")};
    int to_integer = take_one_of(decoder, to_integer_words);
    conversion.to = take_type(decoder);
    conversion.from = take_type(decoder);
    if (to_integer >= 0)
        conversion.to_integer = (enum rounding_to_integer)(TO_INTEGER_NEAREST + to_integer);
    bool packs = conversion.to == TYPE_F16X2 || conversion.to == TYPE_BF16X2;
    bool to_half = packs || conversion.to == TYPE_F16 || conversion.to == TYPE_BF16;
    bool away = conversion.to == TYPE_TF32 && take(decoder, "rna");
    uint8_t mode = take_float_mode(decoder);
    if (conversion.to == TYPE_NONE || conversion.from == TYPE_NONE ||
        type_bytes(conversion.to) > 8 || (packs && conversion.from != TYPE_F32) ||
        (!packs && (conversion.from == TYPE_F16X2 || conversion.from == TYPE_BF16X2)) ||
        conversion.to == TYPE_PRED || conversion.from == TYPE_PRED ||
        conversion.from == TYPE_TF32 || (conversion.to == TYPE_TF32 && !away) ||
        (to_half && (mode & FLOAT_ROUNDING) > FLOAT_ZERO))
        return decode_fail(decoder, "this conversion is not known");
    /* Going through fp16 takes fp32 subnormals; flushing would lose them, and changes no result. */
    if (to_half || conversion.from == TYPE_F16 || conversion.from == TYPE_BF16) {
        conversion.toward_zero = to_half && (mode & FLOAT_ROUNDING) == FLOAT_ZERO;
        mode = FLOAT_NEAREST;
    }
    int from_bytes = type_bytes(conversion.from), to_bytes = type_bytes(conversion.to);
    from_bytes = from_bytes < 2 ? 2 : from_bytes;
    to_bytes = to_bytes < 2 ? 2 : to_bytes;
    int inputs = packs ? 2 : 1;
    struct instruction instruction = {.execute = execute_arithmetic,
                                      .lanes = decoder->module->lanes.convert_frequent(&conversion),
                                      .float_mode = mode,
                                      .input_count = (uint8_t)inputs,
                                      .width = (uint8_t)to_bytes,
                                      .type = (uint8_t)conversion.to};
    instruction.flush =
        (mode & FLOAT_FLUSH) && conversion.from == TYPE_F32 && conversion.to == TYPE_F32;
    if (!instruction.lanes) {
        instruction.execute = execute_conversion;
        instruction.as.conversion = conversion;
    }
    uint32_t places[3];
    if (expect_operands(decoder, 1 + inputs, 1 + inputs) < 0)
        return -1;
    for (int i = 0; i < inputs; i++)
        if (source(decoder, operand_at(decoder, 1 + i), conversion.from, from_bytes,
                   &places[1 + i]) < 0)
            return -1;
    if (!packs)
        places[2] = places[1];
    if (destination(decoder, operand_at(decoder, 0), to_bytes, type_is_signed(conversion.to),
                    &places[0]) < 0)
        return -1;
    emit(decoder, &instruction, places, 3);
    return 0;
}

static uint64_t window_of(enum space space) {
    switch (space) {
    case SPACE_SHARED:
        return SHARED_WINDOW;
    case SPACE_LOCAL:
        return LOCAL_WINDOW;
    case SPACE_PARAM:
        return PARAM_WINDOW;
    default:
        return 0;
    }
}

DECODE(cvta) {
    struct instruction instruction = instruction_of(opcode);
    bool to = take(decoder, "to");
    uint64_t window = window_of(take_space(decoder, SPACE_GLOBAL));
    uint32_t places[2];
    instruction.as.shift = to ? 0 - window : window;
    if (type_bytes(take_type(decoder)) != 8)
        return decode_fail(decoder, "addresses have 64 bits");
    if (expect_operands(decoder, 2, 2) < 0 ||
        source(decoder, operand_at(decoder, 1), TYPE_U64, 8, &places[1]) < 0 ||
        destination(decoder, operand_at(decoder, 0), 8, false, &places[0]) < 0)
        return -1;
    emit(decoder, &instruction, places, 2);
    return 0;
}

DECODE(isspacep) {
    struct instruction instruction = instruction_of(opcode);
    uint32_t places[2];
    instruction.as.isspace.space = take_space(decoder, SPACE_GLOBAL);
    if (expect_operands(decoder, 2, 2) < 0 ||
        source(decoder, operand_at(decoder, 1), TYPE_U64, 8, &places[1]) < 0 ||
        destination(decoder, operand_at(decoder, 0), 0, false, &places[0]) < 0)
        return -1;
    emit(decoder, &instruction, places, 2);
    return 0;
}

/* ---- Control ---- */

DECODE(bra) {
    (void)opcode;
    take(decoder, "uni");
    if (expect_operands(decoder, 1, 1) < 0)
        return -1;
    if (operand_at(decoder, 0)->kind != OPERAND_NAME)
        return decode_fail(decoder, "jumps to no label");
    return emit_jump(decoder, operand_at(decoder, 0)->name);
}

DECODE(brx) {
    struct instruction instruction = instruction_of(opcode);
    uint32_t place;
    if (!take(decoder, "idx") || (take(decoder, "uni"), expect_operands(decoder, 2, 2) < 0))
        return decode_fail(decoder, "this form is not known");
    const struct operand *table = operand_at(decoder, 1);
    const struct binding *found = table->kind == OPERAND_NAME ? lookup(decoder, table->name) : NULL;
    if (!found || found->kind != BINDING_TARGETS)
        return decode_fail(decoder, "its second operand is no .branchtargets");
    const struct statement *targets = found->targets;
    if (source(decoder, operand_at(decoder, 0), TYPE_U32, 4, &place) < 0)
        return -1;
    instruction.as.branch.target = (uint32_t)decoder->target_count;
    instruction.as.branch.target_count = (uint32_t)targets->operand_count;
    for (int i = 0; i < targets->operand_count; i++) {
        if (targets->operands[i].kind != OPERAND_NAME)
            return decode_fail(decoder, "its table holds more than labels");
        decoder->targets = array_grow(decoder->targets, decoder->target_count,
                                      &decoder->target_capacity, sizeof *decoder->targets);
        decoder->jumps = array_grow(decoder->jumps, decoder->jump_count, &decoder->jump_capacity,
                                    sizeof *decoder->jumps);
        decoder->jumps[decoder->jump_count++] =
            (struct jump){.instruction = (uint32_t)decoder->target_count++,
                          .in_table = true,
                          .name = targets->operands[i].name,
                          .scope = decoder->scope,
                          .line = targets->line};
    }
    emit(decoder, &instruction, &place, 1);
    return 0;
}

DECODE(call) {
    (void)opcode;
    take(decoder, "uni");
    return expand_call(decoder);
}

/* In a kernel ret is exit; in a function it jumps behind its expansion. */
DECODE(ret) {
    struct instruction instruction = instruction_of(opcode);
    take(decoder, "uni");
    if (decoder->in_function) {
        instruction.execute = execute_branch;
        decoder->returns = array_grow(decoder->returns, decoder->return_count,
                                      &decoder->return_capacity, sizeof *decoder->returns);
        decoder->returns[decoder->return_count++] = decoder->code_count;
    }
    emit(decoder, &instruction, NULL, 0);
    return 0;
}

DECODE(plain) {
    struct instruction instruction = instruction_of(opcode);
    instruction.as.text = "executed trap";
    emit(decoder, &instruction, NULL, 0);
    return 0;
}

/* nanosleep: a good moment for other warps. */
DECODE(yield) {
    struct instruction instruction = instruction_of(opcode);
    memset(decoder->taken, true, sizeof decoder->taken);
    emit(decoder, &instruction, NULL, 0);
    return 0;
}

/* What has no effect here: its modifiers and operands are nobody's business. */
DECODE(ignored) {
    (void)opcode;
    memset(decoder->taken, true, sizeof decoder->taken);
    return 0;
}

/* A policy for caches: a number that nobody reads. */
DECODE(policy) {
    (void)opcode;
    uint32_t places[2] = {0, constant(decoder, 0, 8)};
    struct lanes_row row;
    memset(decoder->taken, true, sizeof decoder->taken);
    if (!decoder->statement->operand_count ||
        !decoder->module->lanes.find(&row, (struct slice){"mov", 3}, TYPE_B64) ||
        destination(decoder, operand_at(decoder, 0), 8, false, &places[0]) < 0)
        return decode_fail(decoder, "has no register for its result");
    struct instruction instruction = {.execute = execute_arithmetic,
                                      .lanes = row.function,
                                      .float_mode = FLOAT_ANY,
                                      .input_count = 1,
                                      .width = 8};
    emit(decoder, &instruction, places, 2);
    return 0;
}

/* ---- Memory ---- */

/* Caches, ordering and scopes, none of which there is here: one block runs at a time, in order. */
static void take_memory_hints(struct decoder *decoder) {
    static const char *const hints[] = {
        "ca",       "cg",      "cs",      "lu",      "cv",      "wb",   "wt",    "nc",
        "volatile", "relaxed", "acquire", "release", "acq_rel", "weak", "cta",   "gpu",
        "sys",      "cluster", "unified", "mmio",    "noftz",   "sc",   "async", NULL};
    while (take_one_of(decoder, hints) >= 0)
        ;
    take_prefix(decoder, "L1::");
    take_prefix(decoder, "L2::");
}

static int take_vector(struct decoder *decoder) {
    return take(decoder, "v2") ? 2 : take(decoder, "v4") ? 4 : take(decoder, "v8") ? 8 : 1;
}

/* Widths of registers may differ from that in memory, and between elements they must not. */
static int register_bytes_of(struct decoder *decoder, const struct operand *operand, int least) {
    const struct binding *found =
        operand->kind == OPERAND_NAME ? lookup(decoder, operand->name) : NULL;
    int bytes = found && found->kind == BINDING_REGISTER ? found->bytes : least;
    return bytes > least ? bytes : least;
}

static int decode_transfer(struct decoder *decoder, const struct opcode *opcode, bool is_store) {
    struct instruction instruction = instruction_of(opcode);
    struct access *access = &instruction.as.access;
    access->space = take_space(decoder, SPACE_GENERIC);
    access->vector = (uint8_t)take_vector(decoder);
    take_memory_hints(decoder);
    enum type type = take_type(decoder);
    int bytes = type_bytes(type);
    if (!bytes || bytes > 8 || bytes * access->vector > 32)
        return decode_fail(decoder, "this form is not known");
    access->element_bytes = (uint8_t)bytes;
    access->is_signed = type_is_signed(type);
    if (expect_operands(decoder, 2, 3) < 0) /* a third is a cache policy */
        return -1;
    const struct operand *where = operand_at(decoder, is_store ? 0 : 1);
    const struct operand *what = operand_at(decoder, is_store ? 1 : 0);
    const struct operand *elements = what->kind == OPERAND_VECTOR ? what->elements : what;
    if ((what->kind == OPERAND_VECTOR ? what->count : 1) != access->vector)
        return decode_fail(decoder, "has a vector of another length");
    int width = bytes < 2 ? 2 : bytes;
    if (!is_store)
        for (int i = 0; i < access->vector; i++)
            width = register_bytes_of(decoder, &elements[i], width);
    access->register_bytes = (uint8_t)width;
    uint32_t places[9], base;
    if (address(decoder, where, access, &base) < 0)
        return -1;
    for (int i = 0; i < access->vector; i++) {
        uint32_t *place = &places[is_store ? 1 + i : i];
        if (is_store ? source(decoder, &elements[i], type, width, place)
                     : destination(decoder, &elements[i], width, access->is_signed, place))
            return -1;
    }
    places[is_store ? 0 : access->vector] = base;
    emit(decoder, &instruction, places, access->vector + 1);
    return 0;
}

DECODE(load) {
    return decode_transfer(decoder, opcode, false);
}

DECODE(store) {
    return decode_transfer(decoder, opcode, true);
}

static const char *const reductions[REDUCE_COUNT + 1] = {
    [REDUCE_ADD] = "add",       [REDUCE_MIN] = "min", [REDUCE_MAX] = "max", [REDUCE_AND] = "and",
    [REDUCE_OR] = "or",         [REDUCE_XOR] = "xor", [REDUCE_INC] = "inc", [REDUCE_DEC] = "dec",
    [REDUCE_EXCHANGE] = "exch", [REDUCE_CAS] = "cas",
};

/* variant: 1 for atom, which has a result. */
DECODE(atomic) {
    struct instruction instruction = instruction_of(opcode);
    struct access *access = &instruction.as.access;
    int first = opcode->variant;
    access->returns = opcode->variant;
    access->space = take_space(decoder, SPACE_GENERIC);
    access->vector = 1;
    take_memory_hints(decoder);
    int reduction = take_one_of(decoder, reductions);
    access->type = take_type(decoder);
    access->reduction = (enum reduction)reduction;
    access->is_signed = type_is_signed(access->type);
    int bytes = type_bytes(access->type), sources = reduction == REDUCE_CAS ? 2 : 1;
    bool adds_only = type_is_float(access->type);
    if (reduction < 0 || (bytes != 2 && bytes != 4 && bytes != 8) ||
        (adds_only && reduction != REDUCE_ADD))
        return decode_fail(decoder, "this form is not known");
    access->element_bytes = access->register_bytes = (uint8_t)bytes;
    uint32_t places[4];
    if (expect_operands(decoder, first + 1 + sources, first + 2 + sources) < 0 ||
        address(decoder, operand_at(decoder, first), access, &places[1]) < 0)
        return -1;
    for (int i = 0; i < sources; i++)
        if (source(decoder, operand_at(decoder, first + 1 + i), access->type, bytes,
                   &places[2 + i]) < 0)
            return -1;
    if (sources == 1)
        places[3] = places[2];
    places[0] = places[2];
    if (access->returns &&
        destination(decoder, operand_at(decoder, 0), bytes, access->is_signed, &places[0]) < 0)
        return -1;
    emit(decoder, &instruction, places, 4);
    return 0;
}

static int decode_copy_async(struct decoder *decoder) {
    struct instruction instruction = {.execute = execute_copy_async, .float_mode = FLOAT_ANY};
    take_memory_hints(decoder);
    bool known =
        take(decoder, "shared") || take(decoder, "shared::cta") || take(decoder, "shared::cluster");
    known = known && take(decoder, "global");
    if (!known || expect_operands(decoder, 3, 5) < 0)
        return decode_fail(decoder, "this form is not known");
    instruction.as.copy.to.space = SPACE_SHARED;
    instruction.as.copy.from.space = SPACE_GLOBAL;
    uint32_t places[4] = {0};
    const struct operand *bytes = operand_at(decoder, 2), *rest = operand_at(decoder, 3);
    if (bytes->kind != OPERAND_INTEGER ||
        (bytes->bits != 4 && bytes->bits != 8 && bytes->bits != 16))
        return decode_fail(decoder, "copies 4, 8 or 16 bytes only");
    instruction.as.copy.bytes = (int)bytes->bits;
    if (address(decoder, operand_at(decoder, 0), &instruction.as.copy.to, &places[0]) < 0 ||
        address(decoder, operand_at(decoder, 1), &instruction.as.copy.from, &places[1]) < 0)
        return -1;
    /* The fourth operand is a size (32 bits), a predicate to ignore the source, or a cache policy
     * (64). */
    int width = rest && rest->kind == OPERAND_NAME ? register_bytes_of(decoder, rest, 0) : 4;
    if (rest && width == 0) {
        bool negated;
        instruction.as.copy.has_ignore = true;
        if (predicate_source(decoder, rest, &negated, &places[3]) < 0)
            return -1;
        if (negated)
            return decode_fail(decoder, "this form is not known");
    } else if (rest && width == 4) {
        instruction.as.copy.has_source_bytes = true;
        if (source(decoder, rest, TYPE_U32, 4, &places[2]) < 0)
            return -1;
    }
    emit(decoder, &instruction, places, 4);
    return 0;
}

static int emit_copy_wait(struct decoder *decoder, int allowed) {
    struct instruction instruction = {
        .execute = execute_copy_wait, .float_mode = FLOAT_ANY, .as.copy.bytes = allowed};
    emit(decoder, &instruction, NULL, 0);
    return 0;
}

DECODE(cp) {
    (void)opcode;
    if (!take(decoder, "async"))
        return decode_fail(decoder, "this form is not known");
    if (take(decoder, "commit_group")) {
        struct instruction instruction = {.execute = execute_copy_commit, .float_mode = FLOAT_ANY};
        emit(decoder, &instruction, NULL, 0);
        return 0;
    }
    if (take(decoder, "wait_all"))
        return emit_copy_wait(decoder, -1);
    if (take(decoder, "wait_group")) {
        const struct operand *groups = operand_at(decoder, 0);
        if (!groups || groups->kind != OPERAND_INTEGER || groups->bits > INT32_MAX)
            return decode_fail(decoder, "waits for no number of groups");
        return emit_copy_wait(decoder, (int)groups->bits);
    }
    return decode_copy_async(decoder);
}

/* ---- Matrices ---- */

static int take_matrix_count(struct decoder *decoder) {
    return take(decoder, "x1") ? 1 : take(decoder, "x2") ? 2 : take(decoder, "x4") ? 4 : 0;
}

/* variant: 1 for stmatrix. */
DECODE(matrix_transfer) {
    struct instruction instruction = instruction_of(opcode);
    struct access *access = &instruction.as.access;
    bool is_store = opcode->variant;
    bool shape = take(decoder, "sync") & take(decoder, "aligned") & take(decoder, "m8n8");
    int count = take_matrix_count(decoder);
    access->transposed = take(decoder, "trans");
    access->space = take_space(decoder, SPACE_GENERIC);
    access->vector = (uint8_t)count;
    if (!shape || !count || take_type(decoder) != TYPE_B16 || expect_operands(decoder, 2, 2) < 0)
        return decode_fail(decoder, "this form is not known");
    const struct operand *what = operand_at(decoder, is_store ? 1 : 0);
    const struct operand *elements = what->kind == OPERAND_VECTOR ? what->elements : what;
    if ((what->kind == OPERAND_VECTOR ? what->count : 1) != count)
        return decode_fail(decoder, "has a vector of another length");
    uint32_t places[5], base;
    if (address(decoder, operand_at(decoder, is_store ? 0 : 1), access, &base) < 0)
        return -1;
    for (int i = 0; i < count; i++)
        if (is_store ? source(decoder, &elements[i], TYPE_B32, 4, &places[1 + i])
                     : destination(decoder, &elements[i], 4, false, &places[i]))
            return -1;
    places[is_store ? 0 : count] = base;
    emit(decoder, &instruction, places, count + 1);
    return 0;
}

DECODE(movmatrix) {
    struct instruction instruction = instruction_of(opcode);
    uint32_t places[2];
    bool known = take(decoder, "sync") & take(decoder, "aligned") & take(decoder, "m8n8") &
                 take(decoder, "trans");
    if (!known || take_type(decoder) != TYPE_B16 || expect_operands(decoder, 2, 2) < 0)
        return decode_fail(decoder, "this form is not known");
    if (source(decoder, operand_at(decoder, 1), TYPE_B32, 4, &places[1]) < 0 ||
        destination(decoder, operand_at(decoder, 0), 4, false, &places[0]) < 0)
        return -1;
    emit(decoder, &instruction, places, 2);
    return 0;
}

static int matrix_operand(struct decoder *decoder, int index, int count, bool is_result,
                          uint32_t *places) {
    const struct operand *operand = operand_at(decoder, index);
    const struct operand *elements = operand->kind == OPERAND_VECTOR ? operand->elements : operand;
    if ((operand->kind == OPERAND_VECTOR ? operand->count : 1) != count)
        return decode_fail(decoder, "operand %d has %d registers, not %d", index + 1,
                           operand->kind == OPERAND_VECTOR ? operand->count : 1, count);
    for (int i = 0; i < count; i++)
        if (is_result ? destination(decoder, &elements[i], 4, false, &places[i])
                      : source(decoder, &elements[i], TYPE_B32, 4, &places[i]))
            return -1;
    return 0;
}

DECODE(mma) {
    struct instruction instruction = instruction_of(opcode);
    struct matrix_shape *shape = &instruction.as.matrix;
    static const char *const shapes[] = {"m16n8k8", "m16n8k16", "m16n8k4", NULL};
    static const int k_of_shape[] = {8, 16, 4};
    bool known = take(decoder, "sync") & take(decoder, "aligned");
    int index = take_one_of(decoder, shapes);
    known = known & take(decoder, "row") & take(decoder, "col");
    enum type d = take_type(decoder), a = take_type(decoder), b = take_type(decoder);
    enum type c = take_type(decoder);
    shape->half_accumulators = d == TYPE_F16;
    shape->format = a == TYPE_BF16 ? MATRIX_BF16 : a == TYPE_TF32 ? MATRIX_TF32 : MATRIX_F16;
    known = known && index >= 0 && a == b && c == d && (d == TYPE_F32 || d == TYPE_F16) &&
            (a == TYPE_F16 || (d == TYPE_F32 && (a == TYPE_BF16 || a == TYPE_TF32))) &&
            (k_of_shape[index] == 8 || (k_of_shape[index] == 4) == (a == TYPE_TF32));
    if (!known || expect_operands(decoder, 4, 4) < 0)
        return decode_fail(decoder, "this shape or these types are not known");
    shape->k = k_of_shape[index];
    int per_b = shape->k / (a == TYPE_TF32 ? 4 : 8), per_d = shape->half_accumulators ? 2 : 4;
    uint32_t places[14], *place = places;
    if (matrix_operand(decoder, 0, per_d, true, place) < 0 ||
        matrix_operand(decoder, 1, 2 * per_b, false, place += per_d) < 0 ||
        matrix_operand(decoder, 2, per_b, false, place += 2 * per_b) < 0 ||
        matrix_operand(decoder, 3, per_d, false, place += per_b) < 0)
        return -1;
    emit(decoder, &instruction, places, 2 * per_d + 3 * per_b);
    return 0;
}

/* ---- Between lanes and warps ---- */

DECODE(shfl) {
    struct instruction instruction = instruction_of(opcode);
    static const char *const modes[] = {"idx", "up", "down", "bfly", NULL};
    bool sync = take(decoder, "sync");
    int mode = take_one_of(decoder, modes);
    if (!sync || mode < 0 || type_bytes(take_type(decoder)) != 4 ||
        expect_operands(decoder, 5, 5) < 0)
        return decode_fail(decoder, "this form is not known");
    instruction.as.shuffle.mode = (enum shuffle)mode;
    const struct operand *result = operand_at(decoder, 0), *predicate = NULL;
    if (result->kind == OPERAND_PAIR) {
        predicate = &result->elements[1];
        result = &result->elements[0];
        instruction.as.shuffle.has_predicate = true;
    }
    uint32_t places[6] = {0};
    for (int i = 0; i < 4; i++)
        if (source(decoder, operand_at(decoder, 1 + i), TYPE_B32, 4, &places[2 + i]) < 0)
            return -1;
    if (destination(decoder, result, 4, false, &places[0]) < 0 ||
        (predicate && destination(decoder, predicate, 0, false, &places[1]) < 0))
        return -1;
    emit(decoder, &instruction, places, 6);
    return 0;
}

DECODE(vote) {
    struct instruction instruction = instruction_of(opcode);
    static const char *const modes[] = {"all", "any", "uni", "ballot", NULL};
    bool sync = take(decoder, "sync");
    int mode = take_one_of(decoder, modes);
    uint32_t places[3];
    take_type(decoder);
    if (!sync || mode < 0 || expect_operands(decoder, 3, 3) < 0)
        return decode_fail(decoder, "this form is not known");
    instruction.as.vote.mode = (enum vote)mode;
    if (predicate_source(decoder, operand_at(decoder, 1), &instruction.as.vote.negated,
                         &places[1]) < 0 ||
        source(decoder, operand_at(decoder, 2), TYPE_B32, 4, &places[2]) < 0 ||
        destination(decoder, operand_at(decoder, 0), mode == VOTE_BALLOT ? 4 : 0, false,
                    &places[0]) < 0)
        return -1;
    emit(decoder, &instruction, places, 3);
    return 0;
}

DECODE(activemask) {
    struct instruction instruction = instruction_of(opcode);
    uint32_t place;
    take_type(decoder);
    if (expect_operands(decoder, 1, 1) < 0 ||
        destination(decoder, operand_at(decoder, 0), 4, false, &place) < 0)
        return -1;
    emit(decoder, &instruction, &place, 1);
    return 0;
}

DECODE(match) {
    struct instruction instruction = instruction_of(opcode);
    bool any = take(decoder, "any"), all = take(decoder, "all"), sync = take(decoder, "sync");
    int bytes = type_bytes(take_type(decoder));
    uint32_t places[4] = {0};
    if (any == all || !sync || (bytes != 4 && bytes != 8) || expect_operands(decoder, 3, 3) < 0)
        return decode_fail(decoder, "this form is not known");
    instruction.width = (uint8_t)bytes;
    instruction.as.vote.mode = all ? VOTE_ALL : VOTE_ANY;
    const struct operand *result = operand_at(decoder, 0), *predicate = NULL;
    if (result->kind == OPERAND_PAIR) {
        predicate = &result->elements[1];
        result = &result->elements[0];
        instruction.as.vote.has_members = true;
    }
    if (source(decoder, operand_at(decoder, 1), TYPE_NONE, bytes, &places[2]) < 0 ||
        source(decoder, operand_at(decoder, 2), TYPE_B32, 4, &places[3]) < 0 ||
        destination(decoder, result, 4, false, &places[0]) < 0 ||
        (predicate && destination(decoder, predicate, 0, false, &places[1]) < 0))
        return -1;
    emit(decoder, &instruction, places, 4);
    return 0;
}

DECODE(redux) {
    struct instruction instruction = instruction_of(opcode);
    bool sync = take(decoder, "sync");
    int reduction = take_one_of(decoder, reductions);
    enum type type = take_type(decoder);
    uint32_t places[3];
    if (!sync || reduction < 0 || reduction > REDUCE_XOR || type_bytes(type) != 4 ||
        type_is_float(type) || expect_operands(decoder, 3, 3) < 0)
        return decode_fail(decoder, "this form is not known");
    instruction.as.access.reduction = (enum reduction)reduction;
    instruction.as.access.is_signed = type_is_signed(type);
    if (source(decoder, operand_at(decoder, 1), type, 4, &places[1]) < 0 ||
        source(decoder, operand_at(decoder, 2), TYPE_B32, 4, &places[2]) < 0 ||
        destination(decoder, operand_at(decoder, 0), 4, false, &places[0]) < 0)
        return -1;
    emit(decoder, &instruction, places, 3);
    return 0;
}

DECODE(elect) {
    struct instruction instruction = instruction_of(opcode);
    uint32_t places[3];
    if (!take(decoder, "sync") || expect_operands(decoder, 2, 2) < 0 ||
        operand_at(decoder, 0)->kind != OPERAND_PAIR)
        return decode_fail(decoder, "this form is not known");
    const struct operand *pair = operand_at(decoder, 0)->elements;
    if (source(decoder, operand_at(decoder, 1), TYPE_B32, 4, &places[2]) < 0 ||
        destination(decoder, &pair[0], 4, false, &places[0]) < 0 ||
        destination(decoder, &pair[1], 0, false, &places[1]) < 0)
        return -1;
    emit(decoder, &instruction, places, 3);
    return 0;
}

static int decode_warp_barrier(struct decoder *decoder) {
    struct instruction instruction = {.execute = execute_warp_barrier, .float_mode = FLOAT_ANY};
    uint32_t place;
    if (!take(decoder, "sync") || expect_operands(decoder, 1, 1) < 0)
        return decode_fail(decoder, "this form is not known");
    if (source(decoder, operand_at(decoder, 0), TYPE_B32, 4, &place) < 0)
        return -1;
    emit(decoder, &instruction, &place, 1);
    return 0;
}

/* bar and barrier: {.cta} .sync .arrive .red {.aligned}. */
DECODE(barrier) {
    struct instruction instruction = instruction_of(opcode);
    struct barrier *form = &instruction.as.barrier;
    static const char *const kinds[] = {"sync", "arrive", "red", NULL};
    if (take(decoder, "warp"))
        return decode_warp_barrier(decoder);
    take(decoder, "cta");
    take(decoder, "aligned");
    int kind = take_one_of(decoder, kinds), at = 0;
    if (kind < 0)
        return decode_fail(decoder, "this form is not known");
    form->waits = kind != 1;
    form->reduces = kind == 2;
    uint32_t places[4] = {0};
    if (form->reduces) {
        static const char *const operations[] = {"popc", "and", "or", NULL};
        static const enum reduction values[] = {REDUCE_ADD, REDUCE_AND, REDUCE_OR};
        int operation = take_one_of(decoder, operations);
        take_type(decoder);
        if (operation < 0 || expect_operands(decoder, 3, 4) < 0)
            return decode_fail(decoder, "this form is not known");
        form->reduction = values[operation];
        if (destination(decoder, operand_at(decoder, at++), operation ? 0 : 4, false, &places[0]) <
            0)
            return -1;
    } else if (expect_operands(decoder, kind == 1 ? 2 : 1, 2) < 0) {
        return -1;
    }
    int values = decoder->statement->operand_count - at - form->reduces;
    form->has_count = values == 2;
    for (int i = 0; i < values; i++)
        if (source(decoder, operand_at(decoder, at++), TYPE_U32, 4, &places[1 + i]) < 0)
            return -1;
    if (form->reduces && predicate_source(decoder, operand_at(decoder, at),
                                          &form->predicate_negated, &places[3]) < 0)
        return -1;
    emit(decoder, &instruction, places, 4);
    return 0;
}

static const struct opcode opcodes[] = {
    {"setp", decode_setp, execute_setp, 0},
    {"set", decode_set, execute_set, 0},
    {"mov", decode_mov, execute_arithmetic, 0},
    {"cvt", decode_cvt, NULL, 0},
    {"cvta", decode_cvta, execute_shift_address, 0},
    {"isspacep", decode_isspacep, execute_isspace, 0},
    {"bra", decode_bra, execute_branch, 0},
    {"brx", decode_brx, execute_branch_table, 0},
    {"call", decode_call, NULL, 0},
    {"ret", decode_ret, execute_exit, 0},
    {"exit", decode_plain, execute_exit, 0},
    {"trap", decode_plain, execute_trap, 0},
    {"brkpt", decode_plain, execute_trap, 0},
    {"nanosleep", decode_yield, execute_yield, 0},
    {"ld", decode_load, execute_load, 0},
    {"ldu", decode_load, execute_load, 0},
    {"st", decode_store, execute_store, 0},
    {"atom", decode_atomic, execute_atomic, 1},
    {"red", decode_atomic, execute_atomic, 0},
    {"cp", decode_cp, NULL, 0},
    {"ldmatrix", decode_matrix_transfer, execute_load_matrix, 0},
    {"stmatrix", decode_matrix_transfer, execute_store_matrix, 1},
    {"movmatrix", decode_movmatrix, execute_move_matrix, 0},
    {"mma", decode_mma, execute_multiply_matrices, 0},
    {"shfl", decode_shfl, execute_shuffle, 0},
    {"vote", decode_vote, execute_vote, 0},
    {"activemask", decode_activemask, execute_active_mask, 0},
    {"match", decode_match, execute_match, 0},
    {"redux", decode_redux, execute_redux, 0},
    {"elect", decode_elect, execute_elect, 0},
    {"bar", decode_barrier, execute_barrier, 0},
    {"barrier", decode_barrier, execute_barrier, 0},
    {"membar", decode_ignored, NULL, 0},
    {"fence", decode_ignored, NULL, 0},
    {"prefetch", decode_ignored, NULL, 0},
    {"prefetchu", decode_ignored, NULL, 0},
    {"discard", decode_ignored, NULL, 0},
    {"applypriority", decode_ignored, NULL, 0},
    {"griddepcontrol", decode_ignored, NULL, 0},
    {"setmaxnreg", decode_ignored, NULL, 0},
    {"createpolicy", decode_policy, NULL, 0},
};

static int split(struct decoder *decoder) {
    struct slice opcode = decoder->statement->opcode;
    const char *at = opcode.text, *end = opcode.text + opcode.length;
    decoder->part_count = 0;
    memset(decoder->taken, 0, sizeof decoder->taken);
    for (;;) {
        const char *dot = memchr(at, '.', (size_t)(end - at));
        if (decoder->part_count == PARTS_MAX)
            return decode_fail(decoder, "has too many modifiers");
        decoder->parts[decoder->part_count++] = (struct slice){at, (int)((dot ? dot : end) - at)};
        if (!dot)
            return 0;
        at = dot + 1;
    }
}

/* Results that are narrower than their registers, extended. */
static void emit_widenings(struct decoder *decoder) {
    for (int i = 0; i < decoder->widening_count; i++) {
        enum type from = decoder->widenings[i].from_bytes == 2
                             ? decoder->widenings[i].is_signed ? TYPE_S16 : TYPE_U16
                         : decoder->widenings[i].is_signed ? TYPE_S32
                                                           : TYPE_U32;
        struct conversion conversion = {
            .from = from, .to = decoder->widenings[i].to_bytes == 4 ? TYPE_U32 : TYPE_U64};
        struct instruction instruction = {.execute = execute_arithmetic,
                                          .lanes =
                                              decoder->module->lanes.convert_frequent(&conversion),
                                          .float_mode = FLOAT_ANY,
                                          .input_count = 1,
                                          .width = (uint8_t)decoder->widenings[i].to_bytes};
        uint32_t places[2] = {decoder->widenings[i].to, decoder->widenings[i].from};
        emit(decoder, &instruction, places, 2);
    }
}

int decode_instruction(struct decoder *decoder) {
    static const struct opcode arithmetic = {"", decode_arithmetic, execute_arithmetic, 0};
    const struct opcode *opcode = &arithmetic;
    if (split(decoder) < 0)
        return -1;
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++)
        if (slice_is(decoder->parts[0], opcodes[i].name))
            opcode = &opcodes[i];
    decoder->widening_count = 0;
    if (opcode->decode(decoder, opcode) < 0)
        return -1;
    if (opcode->decode == decode_call) /* its statements came in between */
        return 0;
    for (int i = 1; i < decoder->part_count; i++)
        if (!decoder->taken[i])
            return decode_fail(decoder, "'.%.*s' is not known", decoder->parts[i].length,
                               decoder->parts[i].text);
    emit_widenings(decoder);
    return 0;
}
