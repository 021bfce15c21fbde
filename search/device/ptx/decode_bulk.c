/* How the copy engine's instructions are decoded: cp.async.bulk and its like. */
#include "device/ptx/execute.h"
#include "device/ptx/opcodes.h"
#include "device/tensor_map.h"

/* The number of groups is kept in `rank`. */
static int decode_bulk_wait(struct decoder *decoder) {
    struct instruction instruction = {.execute = execute_bulk_wait, .float_mode = FLOAT_ANY};
    const struct operand *groups = operand_at(decoder, 0);
    instruction.as.bulk.reads_only = take(decoder, "read");
    if (!groups || groups->kind != OPERAND_INTEGER || groups->bits > INT32_MAX)
        return decode_fail(decoder, "waits for no number of groups");
    instruction.as.bulk.rank = (int)groups->bits;
    emit(decoder, &instruction, NULL, 0);
    return 0;
}

static int take_rank(struct decoder *decoder) {
    static const char *const ranks[] = {"1d", "2d", "3d", "4d", "5d", NULL};
    if (!take(decoder, "tensor"))
        return 0;
    take(decoder, "tile");
    return take_one_of(decoder, ranks) + 1;
}

/* Emits [shared], [global or map], [mbarrier], bytes, blocks, coordinates; the operand of an
   instruction that has no mbarrier, or no bytes, is any place. */
static int emit_bulk(struct decoder *decoder, struct instruction *instruction) {
    struct bulk_form *form = &instruction->as.bulk;
    uint32_t places[5 + TENSOR_MAP_RANK_MAX] = {0};
    const struct operand *shared = operand_at(decoder, form->is_store ? 1 : 0);
    const struct operand *global = operand_at(decoder, form->is_store ? 0 : 1);
    int next = 2;
    if (address(decoder, shared, &form->shared, &places[0]) < 0 ||
        address(decoder, global, &form->global, &places[1]) < 0)
        return -1;
    if (!form->rank && source(decoder, operand_at(decoder, next++), TYPE_U32, 4, &places[3]) < 0)
        return -1;
    if (!form->is_store &&
        (next >= decoder->statement->operand_count ||
         address(decoder, operand_at(decoder, next), &form->barrier, &places[2]) < 0))
        return decode_fail(decoder, "names no mbarrier");
    if (form->multicast &&
        (next + 1 >= decoder->statement->operand_count ||
         source(decoder, operand_at(decoder, next + 1), TYPE_U16, 2, &places[4]) < 0))
        return decode_fail(decoder, "names no blocks to copy to");
    if (global->count != form->rank)
        return decode_fail(decoder, "has %d coordinates, not %d", global->count, form->rank);
    for (int i = 0; i < form->rank; i++)
        if (source(decoder, &global->elements[i], TYPE_S32, 4, &places[5 + i]) < 0)
            return -1;
    emit(decoder, instruction, places, 5 + form->rank);
    return 0;
}

int decode_bulk(struct decoder *decoder) {
    struct instruction instruction = {.execute = execute_bulk_copy, .float_mode = FLOAT_ANY};
    struct bulk_form *form = &instruction.as.bulk;
    static const char *const spaces[] = {"global", "shared::cta", "shared::cluster", NULL};
    if (take(decoder, "commit_group")) {
        instruction.execute = execute_bulk_commit;
        emit(decoder, &instruction, NULL, 0);
        return 0;
    }
    if (take(decoder, "wait_group"))
        return decode_bulk_wait(decoder);
    if (take(decoder, "prefetch")) /* to L2 */
        return decode_ignored(decoder, NULL);
    form->rank = take_rank(decoder);
    form->is_store = take(decoder, "bulk_group");
    form->multicast = take(decoder, "multicast::cluster");
    form->shared.space = form->barrier.space = SPACE_SHARED;
    form->global.space = form->rank ? SPACE_GENERIC : SPACE_GLOBAL;
    bool known = form->is_store || take(decoder, "mbarrier::complete_tx::bytes");
    while (take_one_of(decoder, spaces) >= 0)
        ;
    take_prefix(decoder, "L2::");
    if (!known || expect_operands(decoder, form->is_store && form->rank ? 2 : 3, 5) < 0)
        return decode_fail(decoder, "this form is not known");
    return emit_bulk(decoder, &instruction);
}
