/* Decodes ldmatrix, stmatrix, movmatrix and mma. */
#include "ptx/execute.h"
#include "ptx/opcodes.h"

#include <string.h>

static int take_matrix_count(struct decoder *decoder) {
    return take_modifier(decoder, "x1")   ? 1
           : take_modifier(decoder, "x2") ? 2
           : take_modifier(decoder, "x4") ? 4
                                          : 0;
}

/* variant: 1 for stmatrix. */
DECODE(ldmatrix) {
    struct instruction instruction = new_instruction(opcode);
    struct access *access = &instruction.as.access;
    bool is_store = opcode->variant;
    bool shape = take_modifier(decoder, "sync") & take_modifier(decoder, "aligned") &
                 take_modifier(decoder, "m8n8");
    int count = take_matrix_count(decoder);
    access->transposed = take_modifier(decoder, "trans");
    access->space = take_space(decoder, SPACE_GENERIC);
    access->vector = (uint8_t)count;
    if (!shape || !count || take_type(decoder) != TYPE_B16 || expect_operands(decoder, 2, 2) < 0)
        return decode_fail(decoder, "unsupported form");
    const struct operand *data = operand_at(decoder, is_store ? 1 : 0);
    const struct operand *elements = data->kind == OPERAND_VECTOR ? data->elements : data;
    if ((data->kind == OPERAND_VECTOR ? data->count : 1) != count)
        return decode_fail(decoder, "a vector operand has the wrong length");
    uint32_t places[5], base;
    if (decode_address(decoder, operand_at(decoder, is_store ? 0 : 1), access, &base) < 0)
        return -1;
    for (int i = 0; i < count; i++)
        if (is_store ? decode_source(decoder, &elements[i], TYPE_B32, 4, &places[1 + i])
                     : decode_destination(decoder, &elements[i], 4, false, &places[i]))
            return -1;
    places[is_store ? 0 : count] = base;
    emit_instruction(decoder, &instruction, places, count + 1);
    return 0;
}

DECODE(movmatrix) {
    struct instruction instruction = new_instruction(opcode);
    uint32_t places[2];
    bool is_supported = take_modifier(decoder, "sync") & take_modifier(decoder, "aligned") &
                        take_modifier(decoder, "m8n8") & take_modifier(decoder, "trans");
    if (!is_supported || take_type(decoder) != TYPE_B16 || expect_operands(decoder, 2, 2) < 0)
        return decode_fail(decoder, "unsupported form");
    if (decode_source(decoder, operand_at(decoder, 1), TYPE_B32, 4, &places[1]) < 0 ||
        decode_destination(decoder, operand_at(decoder, 0), 4, false, &places[0]) < 0)
        return -1;
    emit_instruction(decoder, &instruction, places, 2);
    return 0;
}

int decode_matrix_operand(struct decoder *decoder, int index, int count, int bytes, bool is_result,
                          uint32_t *places) {
    const struct operand *operand = operand_at(decoder, index);
    const struct operand *elements = operand->kind == OPERAND_VECTOR ? operand->elements : operand;
    if ((operand->kind == OPERAND_VECTOR ? operand->count : 1) != count)
        return decode_fail(decoder, "operand %d has %d registers, not %d", index + 1,
                           operand->kind == OPERAND_VECTOR ? operand->count : 1, count);
    for (int i = 0; i < count; i++)
        if (is_result ? decode_destination(decoder, &elements[i], bytes, false, &places[i])
                      : decode_source(decoder, &elements[i], bytes == 8 ? TYPE_F64 : TYPE_B32,
                                      bytes, &places[i]))
            return -1;
    return 0;
}

bool is_fp8(enum type type) {
    return type == TYPE_E4M3 || type == TYPE_E5M2;
}

/* Returns whether mma.m16n8 supports this k for the type. */
static bool is_supported_k(int k, enum type type) {
    return type == TYPE_TF32                       ? k == 4 || k == 8
           : type == TYPE_F16 || type == TYPE_BF16 ? k == 8 || k == 16
                                                   : is_fp8(type) && (k == 16 || k == 32);
}

DECODE(mma) {
    struct instruction instruction = new_instruction(opcode);
    struct matrix_shape *shape = &instruction.as.matrix;
    static const char *const shapes[] = {"m16n8k8", "m16n8k16", "m16n8k4", "m16n8k32", NULL};
    static const int k_of_shape[] = {8, 16, 4, 32};
    bool is_supported = take_modifier(decoder, "sync") & take_modifier(decoder, "aligned");
    static const char *const sparse[] = {"sp", "sp::ordered_metadata", NULL};
    int kind = take_modifier_of(decoder, sparse);
    struct sparsity sparsity = {.is_sparse = kind >= 0, .ordered = kind == 1};
    enum type d = take_type(decoder);
    if (is_supported && !sparsity.is_sparse && (d == TYPE_F16 || d == TYPE_F32) &&
        take_modifier(decoder, "m8n8k4"))
        return decode_mma_m8n8k4(decoder, d);
    is_supported = is_supported & take_modifier(decoder, "row") & take_modifier(decoder, "col");
    if (is_supported && d == TYPE_S32)
        return decode_mma_int(decoder, sparsity);
    if (is_supported && sparsity.is_sparse)
        return decode_mma_sparse(decoder, d, sparsity);
    if (is_supported && d == TYPE_F64)
        return decode_mma_double(decoder);
    int index = take_modifier_of(decoder, shapes);
    enum type a = take_type(decoder), b = take_type(decoder), c = take_type(decoder);
    shape->half_accumulators = d == TYPE_F16;
    shape->left = matrix_format_of(a);
    shape->right = matrix_format_of(b);
    is_supported = is_supported && index >= 0 && c == d && (d == TYPE_F32 || d == TYPE_F16) &&
                   is_supported_k(k_of_shape[index], a) &&
                   (is_fp8(a) ? is_fp8(b) : a == b && (a == TYPE_F16 || d == TYPE_F32));
    if (!is_supported || expect_operands(decoder, 4, 4) < 0)
        return decode_fail(decoder, "unsupported shape or types");
    shape->k = k_of_shape[index];
    shape->b_registers = a == TYPE_TF32 ? shape->k / 4 : shape->k * type_bytes(a) / 16;
    int per_b = shape->b_registers, per_d = shape->half_accumulators ? 2 : 4;
    uint32_t places[14], *place = places;
    if (decode_matrix_operand(decoder, 0, per_d, 4, true, place) < 0 ||
        decode_matrix_operand(decoder, 1, 2 * per_b, 4, false, place += per_d) < 0 ||
        decode_matrix_operand(decoder, 2, per_b, 4, false, place += 2 * per_b) < 0 ||
        decode_matrix_operand(decoder, 3, per_d, 4, false, place += per_b) < 0)
        return -1;
    emit_instruction(decoder, &instruction, places, 2 * per_d + 3 * per_b);
    return 0;
}
