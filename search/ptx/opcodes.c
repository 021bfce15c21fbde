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
    {"addc", decode_carry, execute_arithmetic, 0},
    {"subc", decode_carry, execute_arithmetic, 0},
    {"madc", decode_carry, execute_arithmetic, 0},
    {"setp", decode_setp, execute_setp, 0},
    {"set", decode_set, execute_set, 0},
    {"mov", decode_mov, execute_arithmetic, 0},
    {"cvt", decode_cvt, NULL, 0},
    {"cvta", decode_cvta, execute_cvta, 0},
    {"isspacep", decode_isspacep, execute_isspace, 0},
    {"bra", decode_bra, execute_branch, 0},
    {"brx", decode_brx, execute_branch_table, 0},
    {"call", decode_call, NULL, 0},
    {"ret", decode_ret, execute_exit, 0},
    {"exit", decode_exit_or_trap, execute_exit, 0},
    {"trap", decode_exit_or_trap, execute_trap, 0},
    {"brkpt", decode_exit_or_trap, execute_trap, 0},
    {"nanosleep", decode_nanosleep, execute_yield, 0},
    {"ld", decode_load, execute_load, 0},
    {"ldu", decode_load, execute_load, 0},
    {"st", decode_store, execute_store, 0},
    {"atom", decode_atomic, execute_atomic, 1},
    {"red", decode_atomic, execute_atomic, 0},
    {"cp", decode_cp, NULL, 0},
    {"ldmatrix", decode_ldmatrix, execute_ldmatrix, 0},
    {"stmatrix", decode_ldmatrix, execute_stmatrix, 1},
    {"movmatrix", decode_movmatrix, execute_movmatrix, 0},
    {"mma", decode_mma, execute_mma, 0},
    {"wmma", decode_wmma, NULL, 0},
    {"shfl", decode_shfl, execute_shuffle, 0},
    {"vote", decode_vote, execute_vote, 0},
    {"activemask", decode_activemask, execute_active_mask, 0},
    {"match", decode_match, execute_match, 0},
    {"redux", decode_redux, execute_redux, 0},
    {"elect", decode_elect, execute_elect, 0},
    {"bar", decode_barrier, execute_barrier, 0},
    {"barrier", decode_barrier, execute_barrier, 0},
    {"mbarrier", decode_mbarrier, NULL, 0},
    {"mapa", decode_mapa, execute_mapa, 0},
    {"getctarank", decode_getctarank, execute_getctarank, 0},
    {"wgmma", decode_wgmma, NULL, 0},
    {"tensormap", decode_tensormap, NULL, 0},
    {"multimem", decode_multimem, NULL, 0},
    {"membar", decode_fence, execute_fence, 0},
    {"fence", decode_fence, execute_fence, 0},
    {"prefetch", decode_nop, NULL, 0},
    {"prefetchu", decode_nop, NULL, 0},
    {"discard", decode_nop, NULL, 0},
    {"applypriority", decode_nop, NULL, 0},
    {"griddepcontrol", decode_griddepcontrol, execute_griddepcontrol_wait, 0},
    {"pmevent", decode_nop, NULL, 0},
    {"setmaxnreg", decode_nop, NULL, 0},
    {"createpolicy", decode_createpolicy, NULL, 0},
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

/* Extends results that are narrower than their registers. */
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
        emit_instruction(decoder, &instruction, places, 2);
    }
}

int decode_instruction(struct decoder *decoder) {
    static const struct opcode arithmetic = {"", decode_arithmetic, execute_arithmetic, 0};
    const struct opcode *opcode = &arithmetic;
    if (split_opcode(decoder) < 0)
        return -1;
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++)
        if (slice_is(decoder->parts[0], opcodes[i].name))
            opcode = &opcodes[i];
    decoder->widening_count = 0;
    if (opcode->decode(decoder, opcode) < 0)
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
