/* Decodes ldmatrix, stmatrix, movmatrix and mma. */
#include "ptx/execute.h"
#include "ptx/opcodes.h"

static int take_matrix_count(struct decoder *decoder) {
    return take_modifier(decoder, "x1")   ? 1
           : take_modifier(decoder, "x2") ? 2
           : take_modifier(decoder, "x4") ? 4
                                          : 0;
}

DECODE(ldmatrix) {
    struct access *access = &instruction->as.access;
    bool is_store = instruction->execute == execute_stmatrix;
    bool shape = take_modifier(decoder, "sync") & take_modifier(decoder, "aligned") &
                 take_modifier(decoder, "m8n8");
    int count = take_matrix_count(decoder);
    access->transposed = take_modifier(decoder, "trans");
    access->space = take_space(decoder, SPACE_GENERIC);
    access->vector = (uint8_t)count;
    if (!shape || !count || take_type(decoder) != TYPE_B16 || expect_operands(decoder, 2, 2) < 0)
        return decode_fail(decoder, "unsupported form");
    const struct operand *data = operand_at(decoder, is_store ? 1 : 0);
    const struct operand *elements = vector_elements(decoder, data, count);
    if (!elements)
        return -1;
    uint32_t places[5], *element_places = is_store ? places + 1 : places;
    places[is_store ? 0 : count] =
        decode_address(decoder, operand_at(decoder, is_store ? 0 : 1), access);
    for (int i = 0; i < count; i++)
        element_places[i] = is_store ? decode_source(decoder, &elements[i], TYPE_B32, 4)
                                     : decode_destination(decoder, &elements[i], 4, false);
    return emit_instruction(decoder, instruction, places, count + 1);
}

DECODE(movmatrix) {
    uint32_t places[2];
    bool is_supported = take_modifier(decoder, "sync") & take_modifier(decoder, "aligned") &
                        take_modifier(decoder, "m8n8") & take_modifier(decoder, "trans");
    if (!is_supported || take_type(decoder) != TYPE_B16 || expect_operands(decoder, 2, 2) < 0)
        return decode_fail(decoder, "unsupported form");
    places[1] = decode_source(decoder, operand_at(decoder, 1), TYPE_B32, 4);
    places[0] = decode_destination(decoder, operand_at(decoder, 0), 4, false);
    return emit_instruction(decoder, instruction, places, 2);
}

void decode_matrix_operand(struct decoder *decoder, int index, int count, int bytes, bool is_result,
                           uint32_t *places) {
    if (decoder->error->kind)
        return;
    const struct operand *operand = operand_at(decoder, index);
    bool is_vector = operand->kind == OPERAND_VECTOR;
    const struct operand *elements = is_vector ? operand->elements : operand;
    if ((is_vector ? operand->count : 1) != count)
        decode_fail(decoder, "operand %d has %d registers, not %d", index + 1,
                    is_vector ? operand->count : 1, count);
    for (int i = 0; i < count && !decoder->error->kind; i++)
        places[i] = is_result ? decode_destination(decoder, &elements[i], bytes, false)
                              : decode_source(decoder, &elements[i],
                                              bytes == 8 ? TYPE_F64 : TYPE_B32, bytes);
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
    struct matrix_shape *shape = &instruction->as.matrix;
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
    return emit_mma(decoder, instruction, (int[]){per_d, 2 * per_b, per_b, per_d}, 4, NULL);
}
