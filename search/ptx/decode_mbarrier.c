/* Decodes mbarrier and cluster instructions. */
#include "ptx/execute.h"
#include "ptx/opcodes.h"

/* Takes memory order and scope. They have no effect, since one warp runs at a time and in order;
   returns whether .relaxed was given, which racecheck needs. */
static bool take_order(struct decoder *decoder) {
    static const char *const words[] = {"acquire",    "release", "cta", "cluster",
                                        "noComplete", "aligned", NULL};
    while (take_modifier_of(decoder, words) >= 0)
        ;
    return take_modifier(decoder, "relaxed");
}

/* Emits an mbarrier instruction whose address is operand `first`, followed by an optional value
   (default `otherwise`). */
static int emit_mbarrier(struct decoder *decoder, struct instruction *instruction, int first,
                         uint32_t default_value, int value_bytes) {
    uint32_t places[3] = {0, 0, allocate_constant(decoder, default_value, 4)};
    const struct operand *result = first > 0 ? operand_at(decoder, 0) : NULL;
    const struct operand *value = operand_at(decoder, first + 1);
    bool waits = instruction->execute == execute_mbarrier_wait;
    instruction->as.mbarrier.relaxed = take_order(decoder);
    if (take_type(decoder) != TYPE_B64 || expect_operands(decoder, first + 1, first + 3) < 0)
        return decode_fail(decoder, "unsupported form");
    places[1] =
        decode_address(decoder, operand_at(decoder, first), &instruction->as.mbarrier.where);
    if (value)
        places[2] = decode_source(decoder, value, TYPE_B64, value_bytes);
    places[0] = waits ? 0 : allocate_register(decoder, 8);
    if (result)
        places[0] = decode_destination(decoder, result, waits ? 0 : 8, false);
    return emit_instruction(decoder, instruction, places, 3);
}

static int decode_arrive(struct decoder *decoder, struct instruction *instruction, bool drops) {
    instruction->as.mbarrier.operation = MBARRIER_ARRIVE;
    instruction->as.mbarrier.drops = drops;
    instruction->as.mbarrier.expects = take_modifier(decoder, "expect_tx");
    /* `mbarrier.arrive [address], count` has no result. */
    const struct operand *first = operand_at(decoder, 0);
    return emit_mbarrier(decoder, instruction, first && first->kind == OPERAND_ADDRESS ? 0 : 1, 1,
                         4);
}

static int decode_wait(struct decoder *decoder, struct instruction *instruction, bool suspends) {
    instruction->execute = execute_mbarrier_wait;
    instruction->as.mbarrier.waits = true;
    instruction->as.mbarrier.may_suspend = suspends;
    instruction->as.mbarrier.by_parity = take_modifier(decoder, "parity");
    if (expect_operands(decoder, 3, suspends ? 4 : 3) < 0) /* the fourth is the suspend time hint */
        return -1;
    return emit_mbarrier(decoder, instruction, 1, 0, instruction->as.mbarrier.by_parity ? 4 : 8);
}

static int decode_pending_count(struct decoder *decoder, struct instruction *instruction) {
    uint32_t places[3] = {0};
    instruction->execute = execute_mbarrier_count;
    if (take_type(decoder) != TYPE_B64)
        return decode_fail(decoder, "unsupported form");
    expect_operands(decoder, 2, 2);
    places[2] = decode_source(decoder, operand_at(decoder, 1), TYPE_B64, 8);
    places[0] = decode_destination(decoder, operand_at(decoder, 0), 4, false);
    return emit_instruction(decoder, instruction, places, 3);
}

DECODE(mbarrier) {
    static const struct {
        const char *word;
        enum mbarrier_operation operation;
    } simple[] = {
        {"init", MBARRIER_INIT},
        {"inval", MBARRIER_INVALIDATE},
        {"expect_tx", MBARRIER_EXPECT},
        {"complete_tx", MBARRIER_COMPLETE},
    };
    instruction->as.mbarrier.where.space = take_space(decoder, SPACE_GENERIC);
    if (take_modifier(decoder, "arrive"))
        return decode_arrive(decoder, instruction, false);
    if (take_modifier(decoder, "arrive_drop"))
        return decode_arrive(decoder, instruction, true);
    if (take_modifier(decoder, "try_wait"))
        return decode_wait(decoder, instruction, true);
    if (take_modifier(decoder, "test_wait"))
        return decode_wait(decoder, instruction, false);
    if (take_modifier(decoder, "pending_count"))
        return decode_pending_count(decoder, instruction);
    for (size_t i = 0; i < sizeof simple / sizeof *simple; i++)
        if (take_modifier(decoder, simple[i].word)) {
            instruction->as.mbarrier.operation = simple[i].operation;
            return emit_mbarrier(decoder, instruction, 0, 0, 4);
        }
    return decode_fail(decoder, "unsupported form");
}

int decode_cp_async_mbarrier_arrive(struct decoder *decoder) {
    struct instruction instruction = new_instruction(execute_cp_async_arrive);
    instruction.as.mbarrier.operation = MBARRIER_ARRIVE;
    instruction.as.mbarrier.is_counted = take_modifier(decoder, "noinc");
    instruction.as.mbarrier.where.space = take_space(decoder, SPACE_GENERIC);
    if (!take_modifier(decoder, "arrive"))
        return decode_fail(decoder, "unsupported form");
    return emit_mbarrier(decoder, &instruction, 0, 0, 4);
}

/* mapa d, address, rank and getctarank d, address */
DECODE(mapa) {
    bool is_mapa = instruction->execute == execute_mapa;
    uint32_t places[3];
    instruction->as.mapped.is_generic = take_space(decoder, SPACE_GENERIC) == SPACE_GENERIC;
    int bytes = type_bytes(take_type(decoder)), count = is_mapa ? 3 : 2;
    instruction->width = (uint8_t)bytes;
    if ((bytes != 4 && bytes != 8) || expect_operands(decoder, count, count) < 0)
        return decode_fail(decoder, "unsupported form");
    places[1] = decode_source(decoder, operand_at(decoder, 1), TYPE_U64, bytes);
    if (is_mapa)
        places[2] = decode_source(decoder, operand_at(decoder, 2), TYPE_U32, 4);
    places[0] = decode_destination(decoder, operand_at(decoder, 0), is_mapa ? bytes : 4, false);
    return emit_instruction(decoder, instruction, places, count);
}

int decode_cluster_barrier(struct decoder *decoder) {
    struct instruction instruction = new_instruction(execute_cluster_wait);
    instruction.as.mbarrier.relaxed = take_order(decoder);
    if (take_modifier(decoder, "arrive"))
        instruction.execute = execute_cluster_arrive;
    else if (!take_modifier(decoder, "wait"))
        return decode_fail(decoder, "unsupported form");
    return emit_instruction(decoder, &instruction, NULL, 0);
}
