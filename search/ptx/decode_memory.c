/* Decodes loads, stores, atomics, cp.async and address conversions. */
#include "ptx/execute.h"
#include "ptx/opcodes.h"

static uint64_t window_base(enum state_space space) {
    switch (space) {
    case SPACE_SHARED:
    case SPACE_CLUSTER:
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
    bool to = take_modifier(decoder, "to");
    uint64_t window = window_base(take_space(decoder, SPACE_GLOBAL));
    uint32_t places[2];
    instruction->as.shift = to ? 0 - window : window;
    if (type_bytes(take_type(decoder)) != 8)
        return decode_fail(decoder, "addresses must have 64 bits");
    expect_operands(decoder, 2, 2);
    places[1] = decode_source(decoder, operand_at(decoder, 1), TYPE_U64, 8);
    places[0] = decode_destination(decoder, operand_at(decoder, 0), 8, false);
    return emit_instruction(decoder, instruction, places, 2);
}

DECODE(isspacep) {
    uint32_t places[2];
    instruction->as.isspace.space = take_space(decoder, SPACE_GLOBAL);
    expect_operands(decoder, 2, 2);
    places[1] = decode_source(decoder, operand_at(decoder, 1), TYPE_U64, 8);
    places[0] = decode_destination(decoder, operand_at(decoder, 0), 0, false);
    return emit_instruction(decoder, instruction, places, 2);
}

enum memory_scope take_scope(struct decoder *decoder) {
    static const char *const scopes[] = {"cta", "cluster", "gpu", "sys", NULL};
    int scope = take_modifier_of(decoder, scopes);
    return scope < 0 || scope > SCOPE_DEVICE ? SCOPE_DEVICE : (enum memory_scope)scope;
}

/* Takes cache operators, memory order and scope. They have no effect on results, since one warp
   runs at a time and in order; order and scope are kept for racecheck, and for predictions whether
   L1 keeps the bytes. */
static void take_memory_hints(struct decoder *decoder, struct access *access) {
    static const char *const orders[] = {"volatile", "relaxed", "acquire", "release",
                                         "acq_rel",  "sc",      NULL};
    take_modifier(decoder, "mmio"); /* occurs together with relaxed */
    int order = take_modifier_of(decoder, orders);
    access->strong = order >= 0;
    access->is_volatile = order == 0;
    access->fenced = order >= 3;
    access->scope = take_scope(decoder);
    access->non_coherent = take_modifier(decoder, "nc");
    static const char *const past_l1[] = {"cg", "cv", "L1::no_allocate", NULL};
    static const char *const hints[] = {"ca",   "cs",      "lu",    "wb", "wt",
                                        "weak", "unified", "noftz", NULL};
    access->past_l1 = access->strong || take_modifier_of(decoder, past_l1) >= 0;
    while (take_modifier_of(decoder, hints) >= 0)
        ;
    take_modifiers_with_prefix(decoder, "L1::");
    take_modifiers_with_prefix(decoder, "L2::");
}

static int take_vector(struct decoder *decoder) {
    return take_modifier(decoder, "v2")   ? 2
           : take_modifier(decoder, "v4") ? 4
           : take_modifier(decoder, "v8") ? 8
                                          : 1;
}

/* Registers may be wider than the element in memory, but all elements of a vector must have equal
   width. */
int operand_register_bytes(struct decoder *decoder, const struct operand *operand, int least) {
    const struct binding *found = lookup_operand(decoder, operand);
    int bytes = found && found->kind == BINDING_REGISTER ? found->bytes : least;
    return bytes > least ? bytes : least;
}

/* ld and st of .b128, as a vector of two 64-bit halves. */
static int decode_b128_transfer(struct decoder *decoder, struct instruction *instruction,
                                bool is_store) {
    struct access *access = &instruction->as.access;
    uint32_t places[3];
    if (access->vector != 1 || expect_operands(decoder, 2, 3) < 0)
        return decode_fail(decoder, "unsupported form");
    access->vector = 2;
    access->element_bytes = access->register_bytes = 8;
    places[is_store ? 0 : 2] =
        decode_address(decoder, operand_at(decoder, is_store ? 0 : 1), access);
    decode_b128_register(decoder, operand_at(decoder, is_store ? 1 : 0), &places[is_store ? 1 : 0]);
    for (int half = 0; half < 2 && !is_store; half++)
        add_destination(decoder, places[half]);
    return emit_instruction(decoder, instruction, places, 3);
}

static int decode_load_or_store(struct decoder *decoder, struct instruction *instruction,
                                bool is_store) {
    struct access *access = &instruction->as.access;
    access->space = take_space(decoder, SPACE_GENERIC);
    access->vector = (uint8_t)take_vector(decoder);
    take_memory_hints(decoder, access);
    enum type type = take_type(decoder);
    int bytes = type_bytes(type);
    if (type == TYPE_B128)
        return decode_b128_transfer(decoder, instruction, is_store);
    if (!bytes || bytes > 8 || bytes * access->vector > 32)
        return decode_fail(decoder, "unsupported form");
    access->element_bytes = (uint8_t)bytes;
    access->is_signed = type_is_signed(type);
    if (expect_operands(decoder, 2, 3) < 0) /* the third is a cache policy */
        return -1;
    const struct operand *where = operand_at(decoder, is_store ? 0 : 1);
    const struct operand *data = operand_at(decoder, is_store ? 1 : 0);
    const struct operand *elements = vector_elements(decoder, data, access->vector);
    if (!elements)
        return -1;
    int width = bytes < 2 ? 2 : bytes;
    if (!is_store)
        for (int i = 0; i < access->vector; i++)
            width = operand_register_bytes(decoder, &elements[i], width);
    access->register_bytes = (uint8_t)width;
    uint32_t places[9], *element_places = is_store ? places + 1 : places;
    places[is_store ? 0 : access->vector] = decode_address(decoder, where, access);
    for (int i = 0; i < access->vector; i++)
        element_places[i] =
            is_store ? decode_source(decoder, &elements[i], type, width)
                     : decode_destination(decoder, &elements[i], width, access->is_signed);
    return emit_instruction(decoder, instruction, places, access->vector + 1);
}

DECODE(load) {
    return decode_load_or_store(decoder, instruction, false);
}

/* st.async{.weak}.shared::cluster.mbarrier::complete_tx::bytes{.v2,.v4}.type [a], b, [mbarrier] and
   red.async.relaxed.cluster...op.type. Operands: the bases of the two addresses, then the elements.
   */
static int decode_st_async(struct decoder *decoder, bool reduces) {
    struct instruction instruction = new_instruction(execute_st_async);
    struct st_async_form *form = &instruction.as.remote;
    struct access *where = &form->where;
    form->reduces = reduces;
    take_memory_hints(decoder, where);
    bool is_supported = take_modifier(decoder, "mbarrier::complete_tx::bytes");
    int reduction = reduces ? take_modifier_of(decoder, reduction_names) : REDUCE_EXCHANGE;
    where->vector = (uint8_t)(reduces ? 1 : take_vector(decoder));
    where->space = form->barrier.space = take_space(decoder, SPACE_CLUSTER);
    where->type = take_type(decoder);
    where->reduction = (enum reduction)reduction;
    where->is_signed = type_is_signed(where->type);
    where->element_bytes = where->register_bytes = (uint8_t)type_bytes(where->type);
    int bytes = where->element_bytes;
    if (!is_supported || where->space != SPACE_CLUSTER || (bytes != 4 && bytes != 8) ||
        bytes * where->vector > 16 ||
        (reduces &&
         (reduction < 0 || !bulk_reduction_supported(where->reduction, where->type, true))))
        return decode_fail(decoder, "unsupported form");
    uint32_t places[2 + 4];
    const struct operand *data = operand_at(decoder, 1);
    expect_operands(decoder, 3, 3);
    places[0] = decode_address(decoder, operand_at(decoder, 0), where);
    places[1] = decode_address(decoder, operand_at(decoder, 2), &form->barrier);
    const struct operand *elements = vector_elements(decoder, data, where->vector);
    if (!elements)
        return -1;
    for (int i = 0; i < where->vector; i++)
        places[2 + i] = decode_source(decoder, &elements[i], where->type, bytes);
    return emit_instruction(decoder, &instruction, places, 2 + where->vector);
}

DECODE(store) {
    return take_modifier(decoder, "async") ? decode_st_async(decoder, false)
                                           : decode_load_or_store(decoder, instruction, true);
}

/* discard{.global}.L2 [a], 128 */
DECODE(discard) {
    struct access *access = &instruction->as.access;
    uint32_t places[1];
    access->space = take_space(decoder, SPACE_GENERIC);
    if (!take_modifier(decoder, "L2") || expect_operands(decoder, 2, 2) < 0)
        return decode_fail(decoder, "unsupported form");
    const struct operand *bytes = operand_at(decoder, 1);
    if (bytes->kind != OPERAND_INTEGER || bytes->bits != DISCARDED_BYTES)
        return decode_fail(decoder, "discard takes 128 bytes");
    places[0] = decode_address(decoder, operand_at(decoder, 0), access);
    return emit_instruction(decoder, instruction, places, 1);
}

/* Operands: the base, then the result, b and c of each of `count` elements. */
static int emit_atomic(struct decoder *decoder, struct instruction *instruction, int first,
                       int sources, int count) {
    struct access *access = &instruction->as.access;
    uint32_t places[1 + 3 * 8];
    int bytes = access->element_bytes;
    const struct operand *b = vector_elements(decoder, operand_at(decoder, first + 1), count);
    const struct operand *c = vector_elements(decoder, operand_at(decoder, first + sources), count);
    const struct operand *d =
        access->returns ? vector_elements(decoder, operand_at(decoder, 0), count) : NULL;
    places[0] = decode_address(decoder, operand_at(decoder, first), access);
    if (decoder->error->kind)
        return -1;
    for (int i = 0; i < count; i++) {
        uint32_t *of_element = &places[1 + 3 * i];
        of_element[1] = decode_source(decoder, &b[i], access->type, bytes);
        of_element[2] = decode_source(decoder, &c[i], access->type, bytes);
        of_element[0] =
            d ? decode_destination(decoder, &d[i], bytes, access->is_signed) : of_element[1];
    }
    return emit_instruction(decoder, instruction, places, 1 + 3 * count);
}

/* atom.exch and atom.cas of .b128. Operands: the base; the halves of the result, of b and of c. */
static int emit_b128_atomic(struct decoder *decoder, struct instruction *instruction) {
    struct access *access = &instruction->as.access;
    int sources = access->reduction == REDUCE_CAS ? 2 : 1;
    uint32_t places[7];
    instruction->execute = execute_atomic_wide;
    access->element_bytes = 16;
    access->vector = 1;
    if (access->reduction != REDUCE_CAS && access->reduction != REDUCE_EXCHANGE)
        return decode_fail(decoder, "unsupported form");
    expect_operands(decoder, 2 + sources, 3 + sources);
    places[0] = decode_address(decoder, operand_at(decoder, 1), access);
    decode_b128_register(decoder, operand_at(decoder, 0), &places[1]);
    decode_b128_register(decoder, operand_at(decoder, 2), &places[3]);
    decode_b128_register(decoder, operand_at(decoder, 1 + sources), &places[5]);
    return emit_instruction(decoder, instruction, places, 7);
}

DECODE(atomic) {
    struct access *access = &instruction->as.access;
    int first = slice_is(decoder->parts[0], "atom"); /* atom has a result, red has none */
    if (!first && take_modifier(decoder, "async"))
        return decode_st_async(decoder, true);
    access->returns = first;
    access->space = take_space(decoder, SPACE_GENERIC);
    if (access->space != SPACE_SHARED)
        decoder->kernel->info.blocks_communicate = true;
    take_memory_hints(decoder, access);
    int count = take_vector(decoder), reduction = take_modifier_of(decoder, reduction_names);
    access->type = take_type(decoder);
    access->reduction = (enum reduction)reduction;
    access->is_signed = type_is_signed(access->type);
    if (access->returns && access->type == TYPE_B128 && count == 1)
        return emit_b128_atomic(decoder, instruction);
    int bytes = type_bytes(access->type), sources = reduction == REDUCE_CAS ? 2 : 1;
    bool only_add = type_is_float(access->type);
    if (reduction < 0 || (bytes != 2 && bytes != 4 && bytes != 8) ||
        (only_add && reduction != REDUCE_ADD) || (count > 1 && !only_add) || count * bytes > 16)
        return decode_fail(decoder, "unsupported form");
    access->element_bytes = access->register_bytes = (uint8_t)bytes;
    expect_operands(decoder, first + 1 + sources, first + 2 + sources);
    access->vector = (uint8_t)count;
    return emit_atomic(decoder, instruction, first, sources, count);
}

static int decode_cp_async(struct decoder *decoder) {
    struct instruction instruction = new_instruction(execute_cp_async);
    take_memory_hints(decoder, &instruction.as.copy.from);
    bool is_supported = take_modifier(decoder, "shared") || take_modifier(decoder, "shared::cta") ||
                        take_modifier(decoder, "shared::cluster");
    is_supported = is_supported && take_modifier(decoder, "global");
    if (!is_supported || expect_operands(decoder, 3, 5) < 0)
        return decode_fail(decoder, "unsupported form");
    instruction.as.copy.to.space = SPACE_SHARED;
    instruction.as.copy.from.space = SPACE_GLOBAL;
    uint32_t places[4] = {0};
    const struct operand *bytes = operand_at(decoder, 2), *fourth = operand_at(decoder, 3);
    if (bytes->kind != OPERAND_INTEGER ||
        (bytes->bits != 4 && bytes->bits != 8 && bytes->bits != 16))
        return decode_fail(decoder, "cp.async copies 4, 8 or 16 bytes");
    instruction.as.copy.bytes = (int)bytes->bits;
    places[0] = decode_address(decoder, operand_at(decoder, 0), &instruction.as.copy.to);
    places[1] = decode_address(decoder, operand_at(decoder, 1), &instruction.as.copy.from);
    /* The fourth operand is a source size (32 bits), a predicate that ignores the source, or a
       cache policy (64 bits). */
    int width =
        fourth && fourth->kind == OPERAND_NAME ? operand_register_bytes(decoder, fourth, 0) : 4;
    if (fourth && width == 0) {
        bool negated;
        instruction.as.copy.has_ignore = true;
        places[3] = decode_predicate(decoder, fourth, &negated);
        if (negated)
            return decode_fail(decoder, "unsupported form");
    } else if (fourth && width == 4) {
        instruction.as.copy.has_source_bytes = true;
        places[2] = decode_source(decoder, fourth, TYPE_U32, 4);
    }
    return emit_instruction(decoder, &instruction, places, 4);
}

static int emit_cp_async_wait(struct decoder *decoder, int allowed) {
    struct instruction instruction = {
        .execute = execute_cp_async_wait, .float_mode = FLOAT_ANY, .as.copy.bytes = allowed};
    return emit_instruction(decoder, &instruction, NULL, 0);
}

DECODE(cp) {
    (void)instruction;
    if (!take_modifier(decoder, "async"))
        return decode_fail(decoder, "unsupported form");
    /* cp.reduce exists only for bulk copies. */
    if (take_modifier(decoder, "bulk"))
        return decode_bulk(decoder);
    if (take_modifier(decoder, "mbarrier"))
        return decode_cp_async_mbarrier_arrive(decoder);
    if (take_modifier(decoder, "commit_group")) {
        struct instruction instruction = new_instruction(execute_cp_async_commit);
        return emit_instruction(decoder, &instruction, NULL, 0);
    }
    if (take_modifier(decoder, "wait_all"))
        return emit_cp_async_wait(decoder, -1);
    if (take_modifier(decoder, "wait_group"))
        return emit_cp_async_wait(decoder, decode_group_count(decoder));
    return decode_cp_async(decoder);
}

DECODE(multimem) {
    (void)instruction;
    return decode_fail(decoder, "accesses the memory of several GPUs; only one is emulated");
}
