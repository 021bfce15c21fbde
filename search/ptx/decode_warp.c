/* Decodes warp-level primitives and block barriers. */
#include "ptx/execute.h"
#include "ptx/opcodes.h"

DECODE(shfl) {
    static const char *const modes[] = {"idx", "up", "down", "bfly", NULL};
    bool sync = take_modifier(decoder, "sync");
    int mode = take_modifier_of(decoder, modes);
    if (!sync || mode < 0 || type_bytes(take_type(decoder)) != 4 ||
        expect_operands(decoder, 5, 5) < 0)
        return decode_fail(decoder, "unsupported form");
    instruction->as.shuffle.mode = (enum shuffle)mode;
    uint32_t places[6] = {0};
    for (int i = 0; i < 4; i++)
        places[2 + i] = decode_source(decoder, operand_at(decoder, 1 + i), TYPE_B32, 4);
    instruction->as.shuffle.has_predicate = decode_destination_pair(decoder, 4, places);
    return emit_instruction(decoder, instruction, places, 6);
}

DECODE(vote) {
    static const char *const modes[] = {"all", "any", "uni", "ballot", NULL};
    bool sync = take_modifier(decoder, "sync");
    int mode = take_modifier_of(decoder, modes);
    uint32_t places[3];
    take_type(decoder);
    if (!sync || mode < 0 || expect_operands(decoder, 3, 3) < 0)
        return decode_fail(decoder, "unsupported form");
    instruction->as.vote.mode = (enum vote)mode;
    places[1] = decode_predicate(decoder, operand_at(decoder, 1), &instruction->as.vote.negated);
    places[2] = decode_source(decoder, operand_at(decoder, 2), TYPE_B32, 4);
    places[0] =
        decode_destination(decoder, operand_at(decoder, 0), mode == VOTE_BALLOT ? 4 : 0, false);
    return emit_instruction(decoder, instruction, places, 3);
}

DECODE(activemask) {
    take_type(decoder);
    expect_operands(decoder, 1, 1);
    uint32_t place = decode_destination(decoder, operand_at(decoder, 0), 4, false);
    return emit_instruction(decoder, instruction, &place, 1);
}

DECODE(match) {
    bool any = take_modifier(decoder, "any"), all = take_modifier(decoder, "all"),
         sync = take_modifier(decoder, "sync");
    int bytes = type_bytes(take_type(decoder));
    uint32_t places[4] = {0};
    if (any == all || !sync || (bytes != 4 && bytes != 8) || expect_operands(decoder, 3, 3) < 0)
        return decode_fail(decoder, "unsupported form");
    instruction->width = (uint8_t)bytes;
    instruction->as.vote.mode = all ? VOTE_ALL : VOTE_ANY;
    places[2] = decode_source(decoder, operand_at(decoder, 1), TYPE_NONE, bytes);
    places[3] = decode_source(decoder, operand_at(decoder, 2), TYPE_B32, 4);
    instruction->as.vote.has_members = decode_destination_pair(decoder, 4, places);
    return emit_instruction(decoder, instruction, places, 4);
}

DECODE(redux) {
    bool sync = take_modifier(decoder, "sync");
    int reduction = take_modifier_of(decoder, reduction_names);
    enum type type = take_type(decoder);
    uint32_t places[3];
    if (!sync || reduction < 0 || reduction > REDUCE_XOR || type_bytes(type) != 4 ||
        type_is_float(type) || expect_operands(decoder, 3, 3) < 0)
        return decode_fail(decoder, "unsupported form");
    instruction->as.access.reduction = (enum reduction)reduction;
    instruction->as.access.is_signed = type_is_signed(type);
    places[1] = decode_source(decoder, operand_at(decoder, 1), type, 4);
    places[2] = decode_source(decoder, operand_at(decoder, 2), TYPE_B32, 4);
    places[0] = decode_destination(decoder, operand_at(decoder, 0), 4, false);
    return emit_instruction(decoder, instruction, places, 3);
}

DECODE(elect) {
    uint32_t places[3];
    if (!take_modifier(decoder, "sync") || expect_operands(decoder, 2, 2) < 0 ||
        operand_at(decoder, 0)->kind != OPERAND_PAIR)
        return decode_fail(decoder, "unsupported form");
    places[2] = decode_source(decoder, operand_at(decoder, 1), TYPE_B32, 4);
    decode_destination_pair(decoder, 4, places);
    return emit_instruction(decoder, instruction, places, 3);
}

static int decode_warp_barrier(struct decoder *decoder) {
    struct instruction instruction = new_instruction(execute_bar_warp_sync);
    if (!take_modifier(decoder, "sync") || expect_operands(decoder, 1, 1) < 0)
        return decode_fail(decoder, "unsupported form");
    uint32_t place = decode_source(decoder, operand_at(decoder, 0), TYPE_B32, 4);
    return emit_instruction(decoder, &instruction, &place, 1);
}

/* bar and barrier: {.cta} .sync .arrive .red {.aligned}. */
DECODE(barrier) {
    struct barrier_form *form = &instruction->as.barrier;
    static const char *const kinds[] = {"sync", "arrive", "red", NULL};
    if (take_modifier(decoder, "warp"))
        return decode_warp_barrier(decoder);
    if (take_modifier(decoder, "cluster"))
        return decode_cluster_barrier(decoder);
    take_modifier(decoder, "cta");
    form->aligned = take_modifier(decoder, "aligned") || slice_is(decoder->parts[0], "bar");
    int kind = take_modifier_of(decoder, kinds), at = 0;
    if (kind < 0)
        return decode_fail(decoder, "unsupported form");
    form->waits = kind != 1;
    form->reduces = kind == 2;
    uint32_t places[4] = {0};
    if (form->reduces) {
        static const char *const operations[] = {"popc", "and", "or", NULL};
        static const enum reduction values[] = {REDUCE_ADD, REDUCE_AND, REDUCE_OR};
        int operation = take_modifier_of(decoder, operations);
        take_type(decoder);
        if (operation < 0 || expect_operands(decoder, 3, 4) < 0)
            return decode_fail(decoder, "unsupported form");
        form->reduction = values[operation];
        places[0] =
            decode_destination(decoder, operand_at(decoder, at++), operation ? 0 : 4, false);
    } else if (expect_operands(decoder, kind == 1 ? 2 : 1, 2) < 0) {
        return -1;
    }
    int values = decoder->statement->operand_count - at - form->reduces;
    form->has_count = values == 2;
    for (int i = 0; i < values; i++)
        places[1 + i] = decode_source(decoder, operand_at(decoder, at++), TYPE_U32, 4);
    if (form->reduces)
        places[3] = decode_predicate(decoder, operand_at(decoder, at), &form->predicate_negated);
    return emit_instruction(decoder, instruction, places, 4);
}
