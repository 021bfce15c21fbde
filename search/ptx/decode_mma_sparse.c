/* Decodes mma.sp, whose A has 2:4 structured sparsity: PTX ISA 9.7.14.6. */
#include "ptx/execute.h"
#include "ptx/opcodes.h"

uint32_t decode_sparsity_metadata(struct decoder *decoder, int index, int k,
                                  struct sparsity *sparsity) {
    const struct operand *metadata = operand_at(decoder, index);
    const struct operand *selector = operand_at(decoder, index + 1);
    int lanes = k / sparsity->width /
                4; /* lanes, of each group of four, that hold a row's (or row pair's) metadata */
    if (!selector || selector->kind != OPERAND_INTEGER || selector->bits >= 4u / (unsigned)lanes)
        decode_fail(decoder, "operand %d is not an integer below %d", index + 2, 4 / lanes);
    else
        sparsity->first = (uint8_t)(selector->bits * (unsigned)lanes);
    return decode_source(decoder, metadata, TYPE_B32, 4);
}

/* Operands: d, a, b, c, metadata. */
int decode_mma_sparse(struct decoder *decoder, enum type d, struct sparsity sparsity) {
    struct instruction instruction = new_instruction(execute_mma_sparse);
    struct mma_sparse_form *form = &instruction.as.sparse;
    static const char *const shapes[] = {"m16n8k8", "m16n8k16", "m16n8k32", "m16n8k64", NULL};
    static const int k_of_shape[] = {8, 16, 32, 64};
    int shape = take_modifier_of(decoder, shapes);
    enum type a = take_type(decoder), b = take_type(decoder), c = take_type(decoder);
    bool is_half = a == TYPE_F16 || a == TYPE_BF16, is_wide = a == TYPE_TF32;
    bool is_supported = shape >= 0 && c == d && (is_fp8(a) ? is_fp8(b) : a == b) &&
                        (d == TYPE_F32 || (d == TYPE_F16 && a == TYPE_F16)) &&
                        (is_half || is_wide || is_fp8(a));
    int k = is_supported ? k_of_shape[shape] : 0;
    int registers = is_supported ? k * type_bytes(a) / 16 : 0; /* registers of a, and of b */
    if ((registers != 2 && registers != 4) || (is_fp8(a) && k != 64) ||
        expect_operands(decoder, 6, 6) < 0)
        return decode_fail(decoder, "unsupported shape or types");
    sparsity.pairs_rows = !is_fp8(a);
    sparsity.width = is_wide ? 2 : 4;
    uint32_t metadata = decode_sparsity_metadata(decoder, 4, k, &sparsity);
    form->sparsity = sparsity;
    form->shape = (struct matrix_shape){.k = k / 2,
                                        .left = matrix_format_of(a),
                                        .right = matrix_format_of(b),
                                        .half_accumulators = d == TYPE_F16};
    int sums = d == TYPE_F16 ? 2 : 4;
    return emit_mma(decoder, &instruction, (int[]){sums, registers, registers, sums}, 4, &metadata);
}
