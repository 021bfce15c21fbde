/* Decodes jumps, calls, fences, and instructions without effect here. */
#include "ptx/execute.h"
#include "ptx/opcodes.h"

#include <string.h>

DECODE(bra) {
    (void)opcode;
    take_modifier(decoder, "uni");
    if (expect_operands(decoder, 1, 1) < 0)
        return -1;
    if (operand_at(decoder, 0)->kind != OPERAND_NAME)
        return decode_fail(decoder, "the jump target is not a label");
    return emit_jump(decoder, operand_at(decoder, 0)->name);
}

DECODE(brx) {
    struct instruction instruction = new_instruction(opcode);
    uint32_t place;
    if (!take_modifier(decoder, "idx") ||
        (take_modifier(decoder, "uni"), expect_operands(decoder, 2, 2) < 0))
        return decode_fail(decoder, "unsupported form");
    const struct operand *table = operand_at(decoder, 1);
    const struct binding *found =
        table->kind == OPERAND_NAME ? lookup_name(decoder, table->name) : NULL;
    if (!found || found->kind != BINDING_BRANCH_TARGETS)
        return decode_fail(decoder, "the second operand is not a .branchtargets list");
    const struct statement *targets = found->targets;
    if (decode_source(decoder, operand_at(decoder, 0), TYPE_U32, 4, &place) < 0)
        return -1;
    instruction.as.branch.target = (uint32_t)decoder->target_count;
    instruction.as.branch.target_count = (uint32_t)targets->operand_count;
    for (int i = 0; i < targets->operand_count; i++) {
        if (targets->operands[i].kind != OPERAND_NAME)
            return decode_fail(decoder,
                               "the .branchtargets list contains something other than labels");
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
    emit_instruction(decoder, &instruction, &place, 1);
    return 0;
}

DECODE(call) {
    (void)opcode;
    take_modifier(decoder, "uni");
    return inline_call(decoder);
}

/* In a kernel ret is exit; in an inlined function it jumps to the end of the body. */
DECODE(ret) {
    struct instruction instruction = new_instruction(opcode);
    take_modifier(decoder, "uni");
    if (decoder->in_function) {
        instruction.execute = execute_branch;
        decoder->returns = array_grow(decoder->returns, decoder->return_count,
                                      &decoder->return_capacity, sizeof *decoder->returns);
        decoder->returns[decoder->return_count++] = decoder->code_count;
    } else if (decoder->routine >= 0) {
        instruction.execute = execute_return;
        instruction.as.call.caller = decoder->routine;
    }
    emit_instruction(decoder, &instruction, NULL, 0);
    return 0;
}

DECODE(exit_or_trap) {
    struct instruction instruction = new_instruction(opcode);
    instruction.as.text = "executed trap";
    emit_instruction(decoder, &instruction, NULL, 0);
    return 0;
}

/* nanosleep: yields to other warps. */
DECODE(nanosleep) {
    struct instruction instruction = new_instruction(opcode);
    memset(decoder->taken, true, sizeof decoder->taken);
    emit_instruction(decoder, &instruction, NULL, 0);
    return 0;
}

/* Instructions without effect here; modifiers and operands are not checked. */
DECODE(nop) {
    (void)opcode;
    memset(decoder->taken, true, sizeof decoder->taken);
    return 0;
}

DECODE(fence) {
    struct instruction instruction = new_instruction(opcode);
    bool proxy = take_modifier(decoder, "proxy"), async = take_modifier(decoder, "async");
    async |= take_modifier(decoder, "async::generic");
    instruction.as.fence.proxy = proxy && async && !take_modifier(decoder, "global");
    memset(decoder->taken, true, sizeof decoder->taken);
    emit_instruction(decoder, &instruction, NULL, 0);
    return 0;
}

/* griddepcontrol: launch_dependents is ignored. */
DECODE(griddepcontrol) {
    return slice_is(decoder->parts[decoder->part_count - 1], "wait") ? decode_fence(decoder, opcode)
                                                                     : decode_nop(decoder, opcode);
}

/* createpolicy: the cache policy is never used, so its result is 0. */
DECODE(createpolicy) {
    (void)opcode;
    uint32_t places[2] = {0, allocate_constant(decoder, 0, 8)};
    struct lanes_row row;
    memset(decoder->taken, true, sizeof decoder->taken);
    if (!decoder->statement->operand_count ||
        !decoder->module->lanes.find(&row, (struct slice){"mov", 3}, TYPE_B64) ||
        decode_destination(decoder, operand_at(decoder, 0), 8, false, &places[0]) < 0)
        return decode_fail(decoder, "the result is not a register");
    struct instruction instruction = {.execute = execute_arithmetic,
                                      .lanes = row.function,
                                      .float_mode = FLOAT_ANY,
                                      .input_count = 1,
                                      .width = 8};
    emit_instruction(decoder, &instruction, places, 2);
    return 0;
}
