/* mma of whole numbers, whose sums PTX defines, and of doubles, where an FMA follows the other, k
   upwards: PTX leaves that open, and GPUs do it so (Xie et al., MMA-Sim, 2025). PTX ISA 9.7.14.5:
   with g = lane / 4 and t = lane % 4, a register of a holds row g + 8 (r % (m / 8)), `step` / 4
   neighbours from k = step (r / (m / 8)) + step / 4 t on; one of b column g, the same k's; of c and
   d row g + 8 (r / 2), column 2t + r % 2. */
#include "device/ptx/execute.h"

#include <math.h>
#include <string.h>

enum { M = 16, N = 8 };

/* Where an element is among a lane's registers. `rows8` registers hold the same k's. */
struct spot {
    int of, lane, at; /* register, lane, which of its bytes */
};

static struct spot spot_of(const struct numbers_form *form, int rows8, int row, int k) {
    int each = form->step / 4;
    return (struct spot){.of = k / form->step * rows8 + row / 8,
                         .lane = row % 8 * 4 + k % form->step / each,
                         .at = k % each};
}

static double double_at(const struct warp *warp, const uint32_t *places, struct spot spot) {
    return ((const double *)place_of(warp, places[spot.of]))[spot.lane];
}

static int byte_at(const struct warp *warp, const uint32_t *places, struct spot spot,
                   bool is_signed) {
    uint8_t byte = ((const uint8_t *)place_of(warp, places[spot.of]))[4 * spot.lane + spot.at];
    return is_signed ? (int8_t)byte : byte;
}

int32_t number_of_sum(int64_t sum, bool saturates) {
    if (saturates)
        sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    return (int32_t)(uint32_t)(uint64_t)sum;
}

/* operands: d, a, b, c */
EXECUTE(multiply_numbers) {
    const struct numbers_form *form = &instruction->as.numbers;
    int rows8 = form->m / 8;
    const uint32_t *d = instruction->operands, *a = d + form->m / 4;
    const uint32_t *b = a + rows8 * form->k / form->step, *c = b + form->k / form->step;
    double doubles[M][N];
    int32_t numbers[M][N];
    if (need_all(warp, instruction, mask) == ACTION_FAULT)
        return ACTION_FAULT;
    if (form->is_double && warp->block->cluster->float_mode != instruction->float_mode)
        float_mode_set(warp->block->cluster->float_mode = instruction->float_mode);
    for (int row = 0; row < form->m; row++)
        for (int column = 0; column < N; column++) {
            int lane = row % 8 * 4 + column / 2;
            const void *before = place_of(warp, c[row / 8 * 2 + column % 2]);
            double precise = form->is_double ? ((const double *)before)[lane] : 0;
            int64_t sum = form->is_double ? 0 : ((const int32_t *)before)[lane];
            for (int k = 0; k < form->k; k++) {
                struct spot left = spot_of(form, rows8, row, k),
                            right = spot_of(form, 1, column, k);
                if (form->is_double)
                    precise = fma(double_at(warp, a, left), double_at(warp, b, right), precise);
                else
                    sum += byte_at(warp, a, left, form->a_signed) *
                           byte_at(warp, b, right, form->b_signed);
            }
            doubles[row][column] = precise;
            numbers[row][column] = number_of_sum(sum, form->saturates);
        }
    for (int row = 0; row < form->m; row++)
        for (int column = 0; column < N; column++) {
            void *after = place_of(warp, d[row / 8 * 2 + column % 2]);
            int lane = row % 8 * 4 + column / 2;
            if (form->is_double)
                ((double *)after)[lane] = doubles[row][column];
            else
                ((int32_t *)after)[lane] = numbers[row][column];
        }
    int operations = 2 * form->m * N * form->k;
    warp->block->counts->mma_operations += (uint64_t)operations;
    if (chain_pace(warp))
        chain_busy(warp, operations / chain_pace(warp)->matrix_operations);
    return ACTION_NEXT;
}
