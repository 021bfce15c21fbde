/* The table of opcodes. Opcodes not in it are looked up among the lane operations (arithmetic.inc,
   half_arithmetic.inc). */
#include "ptx/opcodes.h"
#include "ptx/execute.h"

#include <string.h>

const char *const reduction_names[REDUCE_COUNT + 1] = {
    [REDUCE_ADD] = "add",       [REDUCE_MIN] = "min", [REDUCE_MAX] = "max", [REDUCE_AND] = "and",
    [REDUCE_OR] = "or",         [REDUCE_XOR] = "xor", [REDUCE_INC] = "inc", [REDUCE_DEC] = "dec",
    [REDUCE_EXCHANGE] = "exch", [REDUCE_CAS] = "cas",
};

static const struct opcode opcodes[] = {
    {"addc", decode_carry, execute_arithmetic},
    {"subc", decode_carry, execute_arithmetic},
    {"madc", decode_carry, execute_arithmetic},
    {"setp", decode_setp, execute_setp},
    {"set", decode_set, execute_set},
    {"mov", decode_mov, execute_arithmetic},
    {"cvt", decode_cvt, NULL},
    {"cvta", decode_cvta, execute_cvta},
    {"isspacep", decode_isspacep, execute_isspace},
    {"bra", decode_bra, execute_branch},
    {"brx", decode_brx, execute_branch_table},
    {"call", decode_call, NULL},
    {"ret", decode_ret, execute_exit},
    {"exit", decode_exit_or_trap, execute_exit},
    {"trap", decode_exit_or_trap, execute_trap},
    {"brkpt", decode_exit_or_trap, execute_trap},
    {"nanosleep", decode_nanosleep, execute_yield},
    {"ld", decode_load, execute_load},
    {"ldu", decode_load, execute_load},
    {"st", decode_store, execute_store},
    {"atom", decode_atomic, execute_atomic},
    {"red", decode_atomic, execute_atomic},
    {"cp", decode_cp, NULL},
    {"ldmatrix", decode_ldmatrix, execute_ldmatrix},
    {"stmatrix", decode_ldmatrix, execute_stmatrix},
    {"movmatrix", decode_movmatrix, execute_movmatrix},
    {"mma", decode_mma, execute_mma},
    {"wmma", decode_wmma, NULL},
    {"shfl", decode_shfl, execute_shuffle},
    {"vote", decode_vote, execute_vote},
    {"activemask", decode_activemask, execute_active_mask},
    {"match", decode_match, execute_match},
    {"redux", decode_redux, execute_redux},
    {"elect", decode_elect, execute_elect},
    {"bar", decode_barrier, execute_barrier},
    {"barrier", decode_barrier, execute_barrier},
    {"mbarrier", decode_mbarrier, execute_mbarrier},
    {"mapa", decode_mapa, execute_mapa},
    {"getctarank", decode_mapa, execute_getctarank},
    {"wgmma", decode_wgmma, execute_wgmma_commit},
    {"tensormap", decode_tensormap, NULL},
    {"multimem", decode_multimem, NULL},
    {"membar", decode_fence, execute_fence},
    {"fence", decode_fence, execute_fence},
    {"prefetch", decode_nop, NULL},
    {"prefetchu", decode_nop, NULL},
    {"discard", decode_discard, execute_discard},
    {"applypriority", decode_nop, NULL},
    {"griddepcontrol", decode_griddepcontrol, execute_griddepcontrol_wait},
    {"pmevent", decode_nop, NULL},
    {"setmaxnreg", decode_nop, NULL},
    {"createpolicy", decode_createpolicy, NULL},
};

const struct opcode *opcode_at(int index) {
    return (size_t)index < sizeof opcodes / sizeof *opcodes ? &opcodes[index] : NULL;
}

static int split_opcode(struct decoder *decoder) {
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

int decode_instruction(struct decoder *decoder) {
    static const struct opcode arithmetic = {"", decode_arithmetic, execute_arithmetic};
    const struct opcode *opcode = &arithmetic;
    if (decoder->statement->error)
        return decode_fail(decoder, "%s", decoder->statement->error);
    if (split_opcode(decoder) < 0)
        return -1;
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++)
        if (slice_is(decoder->parts[0], opcodes[i].name))
            opcode = &opcodes[i];
    decoder->widening_count = decoder->destination_count = 0;
    decoder->moves = slice_is(decoder->parts[0], "mov");
    struct instruction instruction = new_instruction(opcode->execute);
    opcode->decode(decoder, &instruction);
    if (decoder->error->kind)
        return -1;
    if (opcode->decode == decode_call) /* it decoded the statements of the callee */
        return 0;
    for (int i = 1; i < decoder->part_count; i++)
        if (!decoder->taken[i])
            return decode_fail(decoder, "unsupported modifier '.%.*s'", decoder->parts[i].length,
                               decoder->parts[i].text);
    emit_widenings(decoder);
    return 0;
}
