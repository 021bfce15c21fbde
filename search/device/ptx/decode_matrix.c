/* How instructions on matrices are decoded. */
#include "device/ptx/execute.h"
#include "device/ptx/opcodes.h"

#include <string.h>

static int take_matrix_count(struct decoder *decoder) {
    return take(decoder, "x1") ? 1 : take(decoder, "x2") ? 2 : take(decoder, "x4") ? 4 : 0;
}

/* variant: 1 for stmatrix. */
DECODE(matrix_transfer) {
    struct instruction instruction = instruction_of(opcode);
    struct access *access = &instruction.as.access;
    bool is_store = opcode->variant;
    bool shape = take(decoder, "sync") & take(decoder, "aligned") & take(decoder, "m8n8");
    int count = take_matrix_count(decoder);
    access->transposed = take(decoder, "trans");
    access->space = take_space(decoder, SPACE_GENERIC);
    access->vector = (uint8_t)count;
    if (!shape || !count || take_type(decoder) != TYPE_B16 || expect_operands(decoder, 2, 2) < 0)
        return decode_fail(decoder, "this form is not known");
    const struct operand *what = operand_at(decoder, is_store ? 1 : 0);
    const struct operand *elements = what->kind == OPERAND_VECTOR ? what->elements : what;
    if ((what->kind == OPERAND_VECTOR ? what->count : 1) != count)
        return decode_fail(decoder, "has a vector of another length");
    uint32_t places[5], base;
    if (address(decoder, operand_at(decoder, is_store ? 0 : 1), access, &base) < 0)
        return -1;
    for (int i = 0; i < count; i++)
        if (is_store ? source(decoder, &elements[i], TYPE_B32, 4, &places[1 + i])
                     : destination(decoder, &elements[i], 4, false, &places[i]))
            return -1;
    places[is_store ? 0 : count] = base;
    emit(decoder, &instruction, places, count + 1);
    return 0;
}

DECODE(movmatrix) {
    struct instruction instruction = instruction_of(opcode);
    uint32_t places[2];
    bool known = take(decoder, "sync") & take(decoder, "aligned") & take(decoder, "m8n8") &
                 take(decoder, "trans");
    if (!known || take_type(decoder) != TYPE_B16 || expect_operands(decoder, 2, 2) < 0)
        return decode_fail(decoder, "this form is not known");
    if (source(decoder, operand_at(decoder, 1), TYPE_B32, 4, &places[1]) < 0 ||
        destination(decoder, operand_at(decoder, 0), 4, false, &places[0]) < 0)
        return -1;
    emit(decoder, &instruction, places, 2);
    return 0;
}

int matrix_operand(struct decoder *decoder, int index, int count, int bytes, bool is_result,
                   uint32_t *places) {
    const struct operand *operand = operand_at(decoder, index);
    const struct operand *elements = operand->kind == OPERAND_VECTOR ? operand->elements : operand;
    if ((operand->kind == OPERAND_VECTOR ? operand->count : 1) != count)
        return decode_fail(decoder, "operand %d has %d registers, not %d", index + 1,
                           operand->kind == OPERAND_VECTOR ? operand->count : 1, count);
    for (int i = 0; i < count; i++)
        if (is_result ? destination(decoder, &elements[i], bytes, false, &places[i])
                      : source(decoder, &elements[i], bytes == 8 ? TYPE_F64 : TYPE_B32, bytes,
                               &places[i]))
            return -1;
    return 0;
}

bool is_byte(enum type type) {
    return type == TYPE_S8 || type == TYPE_U8;
}

/* operands: d, a, b, c */
static int decode_numbers(struct decoder *decoder, int m, int k, const enum type types[4]) {
    struct instruction instruction = {.execute = execute_multiply_numbers, .float_mode = FLOAT_ANY};
    struct numbers_form *form = &instruction.as.numbers;
    enum type d = types[0], a = types[1], b = types[2], c = types[3];
    form->is_double = a == TYPE_F64;
    form->step = form->is_double ? 4 : 16;
    form->m = (uint8_t)m;
    form->k = (uint8_t)k;
    form->a_signed = a == TYPE_S8;
    form->b_signed = b == TYPE_S8;
    form->saturates = !form->is_double && take(decoder, "satfinite");
    if (form->is_double)
        instruction.float_mode = take_float_mode(decoder);
    bool known = form->is_double
                     ? b == a && c == a && d == a && (m == 8 ? k == 4 : k <= 16)
                     : is_byte(b) && c == TYPE_S32 && d == c && (m == 8 ? k == 16 : k >= 16);
    if (!known || expect_operands(decoder, 4, 4) < 0)
        return decode_fail(decoder, "this shape or these types are not known");
    int bytes = form->is_double ? 8 : 4;
    int counts[] = {m / 4, m / 8 * k / form->step, k / form->step, m / 4};
    uint32_t places[4 + 8 + 4 + 4], *place = places;
    for (int i = 0; i < 4; place += counts[i++])
        if (matrix_operand(decoder, i, counts[i], bytes, i == 0, place) < 0)
            return -1;
    emit(decoder, &instruction, places, (int)(place - places));
    return 0;
}

DECODE(mma) {
    struct instruction instruction = instruction_of(opcode);
    struct matrix_shape *shape = &instruction.as.matrix;
    static const char *const shapes[] = {"m16n8k8", "m16n8k16", "m16n8k4", "m8n8k4",
                                         "m8n8k16", "m16n8k32", NULL};
    static const int k_of_shape[] = {8, 16, 4, 4, 16, 32};
    bool known = take(decoder, "sync") & take(decoder, "aligned");
    int index = take_one_of(decoder, shapes);
    known = known & take(decoder, "row") & take(decoder, "col");
    enum type d = take_type(decoder), a = take_type(decoder), b = take_type(decoder);
    enum type c = take_type(decoder);
    bool is_short = index >= 0 && shapes[index][1] == '8'; /* m is 8 */
    if (known && index >= 0 && (is_byte(a) || a == TYPE_F64))
        return decode_numbers(decoder, is_short ? 8 : 16, k_of_shape[index],
                              (enum type[]){d, a, b, c});
    shape->half_accumulators = d == TYPE_F16;
    shape->format = a == TYPE_BF16 ? MATRIX_BF16 : a == TYPE_TF32 ? MATRIX_TF32 : MATRIX_F16;
    known = known && index >= 0 && !is_short && k_of_shape[index] <= 16 && a == b && c == d &&
            (d == TYPE_F32 || d == TYPE_F16) &&
            (a == TYPE_F16 || (d == TYPE_F32 && (a == TYPE_BF16 || a == TYPE_TF32))) &&
            (k_of_shape[index] == 8 || (k_of_shape[index] == 4) == (a == TYPE_TF32));
    if (!known || expect_operands(decoder, 4, 4) < 0)
        return decode_fail(decoder, "this shape or these types are not known");
    shape->k = k_of_shape[index];
    int per_b = shape->k / (a == TYPE_TF32 ? 4 : 8), per_d = shape->half_accumulators ? 2 : 4;
    uint32_t places[14], *place = places;
    if (matrix_operand(decoder, 0, per_d, 4, true, place) < 0 ||
        matrix_operand(decoder, 1, 2 * per_b, 4, false, place += per_d) < 0 ||
        matrix_operand(decoder, 2, per_b, 4, false, place += 2 * per_b) < 0 ||
        matrix_operand(decoder, 3, per_d, 4, false, place += per_b) < 0)
        return -1;
    emit(decoder, &instruction, places, 2 * per_d + 3 * per_b);
    return 0;
}
