/* mma of integers (results defined by PTX) and of doubles, which are computed as a chain of FMAs
   in ascending k: PTX leaves the order open, and GPUs use this one (Xie et al., MMA-Sim, 2025).
   Register layout (PTX ISA 9.7.14.5), with g = lane / 4 and t = lane % 4:
     a: register r holds 32 bits of row g + 8 (r % (m / 8)), from bit 32 (t + 4 (r / (m / 8))) on,
       or the double at column t + 4 (r / (m / 8)).
     b: the same of column g.
     c, d: register r holds row g + 8 (r / 2), column 2t + r % 2. */
#include "ptx/execute.h"

#include <math.h>

enum { M = 16, N = 8, K_MAX = 256 };

int32_t sum_to_s32(int64_t sum, bool saturates) {
    if (saturates)
        sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    return (int32_t)(uint32_t)(uint64_t)sum;
}

void unpack_integers(int16_t *out, const uint8_t *bytes, int count, struct integer_format format) {
    int each = 8 / format.bits, values = 1 << format.bits;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < each; j++) {
            int value = bytes[i] >> j * format.bits & (values - 1);
            *out++ = (int16_t)(format.is_signed && value >= values / 2 ? value - values : value);
        }
}

int integer_dot_product(const int16_t *left, const int16_t *right, int count, bool is_xor) {
    int sum = 0;
    if (is_xor)
        for (int k = 0; k < count; k++)
            sum += left[k] ^ right[k];
    else
        for (int k = 0; k < count; k++)
            sum += left[k] * right[k];
    return sum;
}

/* Reads the rows of a, or the columns of b; groups of `row_groups` registers hold the same k range.
 */
static void read_operand_rows(const struct warp *warp, const uint32_t *places, int registers,
                              int row_groups, struct integer_format format, int16_t (*out)[K_MAX]) {
    int each = 32 / format.bits;
    for (int r = 0; r < registers; r++) {
        const uint8_t *words = operand_pointer(warp, places[r]);
        for (int lane = 0; lane < LANES; lane++)
            unpack_integers(
                &out[r % row_groups * 8 + lane / 4][(r / row_groups * 4 + lane % 4) * each],
                words + 4 * lane, 4, format);
    }
}

/* operands: d, a, b, c; metadata of a sparse a */
EXECUTE(mma_int) {
    const struct mma_int_form *form = &instruction->as.integer;
    bool is_sparse = form->sparsity.is_sparse;
    int row_groups = form->m / 8,
        count = is_sparse ? form->k / 2 : form->k; /* stored columns of a */
    int steps = form->k * form->a.bits / 128, a_steps = count * form->a.bits / 128;
    const uint32_t *d = instruction->operands, *a = d + 2 * row_groups,
                   *b = a + row_groups * a_steps;
    const uint32_t *c = b + steps, *metadata = c + 2 * row_groups;
    int16_t left[M][K_MAX], right[N][K_MAX], chosen[SPARSE_COLUMNS_MAX];
    uint8_t sparse_columns[M][SPARSE_COLUMNS_MAX];
    int32_t sums[M][N];
    if (require_full_warp(warp, instruction, mask) == ACTION_FAULT ||
        (is_sparse && read_sparse_columns(warp, instruction, &form->sparsity, *metadata, form->k,
                                          sparse_columns) < 0))
        return ACTION_FAULT;
    read_operand_rows(warp, a, row_groups * a_steps, row_groups, form->a, left);
    read_operand_rows(warp, b, steps, 1, form->b, right);
    for (int row = 0; row < form->m; row++)
        for (int column = 0; column < N; column++) {
            const int32_t *before = operand_pointer(warp, c[row / 8 * 2 + column % 2]);
            for (int k = 0; k < count && is_sparse; k++)
                chosen[k] = right[column][sparse_columns[row][k]];
            int sum = integer_dot_product(left[row], is_sparse ? chosen : right[column], count,
                                          form->is_xor);
            sums[row][column] =
                sum_to_s32((int64_t)before[row % 8 * 4 + column / 2] + sum, form->saturates);
        }
    for (int row = 0; row < form->m; row++)
        for (int column = 0; column < N; column++) {
            int32_t *after = operand_pointer(warp, d[row / 8 * 2 + column % 2]);
            after[row % 8 * 4 + column / 2] = sums[row][column];
        }
    count_mma(warp, 2 * form->m * N * count);
    return ACTION_NEXT;
}

/* operands: d, a, b, c */
EXECUTE(mma_double) {
    const struct mma_double_form *form = &instruction->as.doubles;
    int row_groups = form->m / 8;
    const uint32_t *d = instruction->operands, *a = d + 2 * row_groups,
                   *b = a + row_groups * form->k / 4;
    const uint32_t *c = b + form->k / 4;
    double sums[M][N];
    if (require_full_warp(warp, instruction, mask) == ACTION_FAULT)
        return ACTION_FAULT;
    enter_float_mode(warp, instruction->float_mode);
    for (int row = 0; row < form->m; row++)
        for (int column = 0; column < N; column++) {
            const double *before = operand_pointer(warp, c[row / 8 * 2 + column % 2]);
            double sum = before[row % 8 * 4 + column / 2];
            for (int k = 0; k < form->k; k++) {
                const double *left = operand_pointer(warp, a[k / 4 * row_groups + row / 8]);
                const double *right = operand_pointer(warp, b[k / 4]);
                sum = fma(left[row % 8 * 4 + k % 4], right[column * 4 + k % 4], sum);
            }
            sums[row][column] = sum;
        }
    for (int row = 0; row < form->m; row++)
        for (int column = 0; column < N; column++) {
            double *after = operand_pointer(warp, d[row / 8 * 2 + column % 2]);
            after[row % 8 * 4 + column / 2] = sums[row][column];
        }
    count_mma(warp, 2 * form->m * N * form->k);
    return ACTION_NEXT;
}
