/* Decodes jumps, calls, fences, and instructions without effect here. */
#include "base/memory.h"
#include "ptx/execute.h"
#include "ptx/opcodes.h"

#include <string.h>

DECODE(bra) {
    (void)instruction;
    take_modifier(decoder, "uni");
    if (expect_operands(decoder, 1, 1) < 0)
        return -1;
    if (operand_at(decoder, 0)->kind != OPERAND_NAME)
        return decode_fail(decoder, "the jump target is not a label");
    return emit_jump(decoder, operand_at(decoder, 0)->name);
}

DECODE(brx) {
    uint32_t place;
    if (!take_modifier(decoder, "idx") ||
        (take_modifier(decoder, "uni"), expect_operands(decoder, 2, 2) < 0))
        return decode_fail(decoder, "unsupported form");
    const struct operand *table = operand_at(decoder, 1);
    const struct binding *found = lookup_operand(decoder, table);
    if (!found || found->kind != BINDING_BRANCH_TARGETS)
        return decode_fail(decoder, "the second operand is not a .branchtargets list");
    const struct statement *targets = found->targets;
    place = decode_source(decoder, operand_at(decoder, 0), TYPE_U32, 4);
    instruction->as.branch.target = (uint32_t)decoder->target_count;
    instruction->as.branch.target_count = (uint32_t)targets->operand_count;
    for (int i = 0; i < targets->operand_count; i++) {
        if (targets->operands[i].kind != OPERAND_NAME)
            return decode_fail(decoder,
                               "the .branchtargets list contains something other than labels");
        decoder->targets = xgrow(decoder->targets, decoder->target_count, sizeof *decoder->targets);
        decoder->jumps = xgrow(decoder->jumps, decoder->jump_count, sizeof *decoder->jumps);
        decoder->jumps[decoder->jump_count++] =
            (struct jump){.instruction = (uint32_t)decoder->target_count++,
                          .in_table = true,
                          .name = targets->operands[i].name,
                          .scope = decoder->scope,
                          .line = targets->line};
    }
    return emit_instruction(decoder, instruction, &place, 1);
}

DECODE(call) {
    (void)instruction;
    take_modifier(decoder, "uni");
    return inline_call(decoder);
}

/* In a kernel ret is exit; in an inlined function it jumps to the end of the body. */
DECODE(ret) {
    take_modifier(decoder, "uni");
    if (decoder->in_function) {
        instruction->execute = execute_branch;
        decoder->returns = xgrow(decoder->returns, decoder->return_count, sizeof *decoder->returns);
        decoder->returns[decoder->return_count++] = decoder->code_count;
    } else if (decoder->routine >= 0) {
        instruction->execute = execute_return;
        instruction->as.call.caller = decoder->routine;
    }
    return emit_instruction(decoder, instruction, NULL, 0);
}

DECODE(exit_or_trap) {
    instruction->as.text = "executed trap";
    return emit_instruction(decoder, instruction, NULL, 0);
}

/* nanosleep: yields to other warps. */
DECODE(nanosleep) {
    memset(decoder->taken, true, sizeof decoder->taken);
    return emit_instruction(decoder, instruction, NULL, 0);
}

/* Instructions without effect here; modifiers and operands are not checked. */
DECODE(nop) {
    (void)instruction;
    memset(decoder->taken, true, sizeof decoder->taken);
    return 0;
}

DECODE(fence) {
    bool proxy = take_modifier(decoder, "proxy"), async = take_modifier(decoder, "async");
    async |= take_modifier(decoder, "async::generic");
    instruction->as.fence.proxy = proxy && async && !take_modifier(decoder, "global");
    instruction->as.fence.scope = take_scope(decoder);
    memset(decoder->taken, true, sizeof decoder->taken);
    return emit_instruction(decoder, instruction, NULL, 0);
}

/* griddepcontrol: launch_dependents is ignored. */
DECODE(griddepcontrol) {
    return slice_is(decoder->parts[decoder->part_count - 1], "wait")
               ? decode_fence(decoder, instruction)
               : decode_nop(decoder, instruction);
}

/* createpolicy: the cache policy is never used, so its result is 0. */
DECODE(createpolicy) {
    (void)instruction;
    uint32_t places[2] = {0, allocate_constant(decoder, 0, 8)};
    memset(decoder->taken, true, sizeof decoder->taken);
    if (decoder->statement->operand_count)
        places[0] = decode_destination(decoder, operand_at(decoder, 0), 8, false);
    if (!decoder->statement->operand_count || decoder->error->kind)
        return decode_fail(decoder, "the result is not a register");
    emit_lane_operation(decoder, "mov", TYPE_B64, places);
    return 0;
}
