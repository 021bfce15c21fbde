/* mma.m8n8k4 of f16: PTX ISA 9.7.14.5.1. Four independent products: product q belongs to lanes
   4q .. 4q + 3 and 16 + 4q .. 16 + 4q + 3; the latter hold rows (of b: columns) 4 to 7.

   Tensor cores after Volta do not implement it, and ptxas (13.0, sm_86 to sm_90a) lowers it to
   ordinary arithmetic: fp32 results are c + p, where p is a chain of FMAs in ascending k from 0;
   f16 results are (c + p) + q in fp32 with p = fma(a1, b1, a0 b0), q = fma(a3, b3, a2 b2), then
   rounded. */
#include "ptx/execute.h"
#include "ptx/half.h"

#include <math.h>

enum { PRODUCTS = 4, SIZE = 8, K = 4 };

/* The row (of b: column) of a lane's element in its product's matrix. `along`: a lane's elements
   are consecutive in k. */
static int matrix_row(int lane, int element, bool along) {
    return lane / 16 * 4 + (along ? lane % 4 : element);
}

static float read_half(const struct warp *warp, const uint32_t *places, int lane, int element) {
    const uint16_t *pairs = operand_pointer(warp, places[element / 2]);
    return half_to_float(pairs[2 * lane + element % 2]);
}

static float sum_products(const float *a, const float *b, float c, bool half) {
    if (!half)
        return c + fmaf(a[3], b[3], fmaf(a[2], b[2], fmaf(a[1], b[1], fmaf(a[0], b[0], 0))));
    float first = fmaf(a[1], b[1], a[0] * b[0]), second = fmaf(a[3], b[3], a[2] * b[2]);
    return (c + first) + second;
}

/* The position of a lane's i-th element of c or d. */
static void sum_position(int lane, int i, bool half, int *row, int *column) {
    *row = lane / 16 * 4 + (half ? lane % 4 : (lane & 1) + (i & 2));
    *column = half ? i : (i & 4) + (lane & 2) + (i & 1);
}

/* operands: d, a, b, c */
EXECUTE(mma_m8n8k4) {
    const struct mma_m8n8k4_form *form = &instruction->as.m8n8k4;
    const uint32_t *d = instruction->operands, *a = d + (form->half_result ? 4 : 8), *b = a + 2;
    const uint32_t *c = b + 2;
    float left[PRODUCTS][SIZE][K], right[PRODUCTS][SIZE][K], sums[PRODUCTS][SIZE][SIZE];
    if (require_full_warp(warp, instruction, mask) == ACTION_FAULT)
        return ACTION_FAULT;
    enter_float_mode(warp, FLOAT_NEAREST);
    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < 8; i++) {
            int product = lane % 16 / 4, element = i % 4, row, column;
            bool half = form->half_accumulator;
            left[product][matrix_row(lane, element, form->a_is_k_contiguous)]
                [form->a_is_k_contiguous ? element : lane % 4] = read_half(warp, a, lane, element);
            right[product][matrix_row(lane, element, form->b_is_k_contiguous)]
                 [form->b_is_k_contiguous ? element : lane % 4] = read_half(warp, b, lane, element);
            sum_position(lane, i, half, &row, &column);
            sums[product][row][column] = half ? read_half(warp, c, lane, i)
                                              : ((const float *)operand_pointer(warp, c[i]))[lane];
        }
    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < 8; i++) {
            int product = lane % 16 / 4, row, column;
            sum_position(lane, i, form->half_result, &row, &column);
            float sum = sum_products(left[product][row], right[product][column],
                                     sums[product][row][column], form->half_result);
            if (form->half_result)
                ((uint16_t *)operand_pointer(warp, d[i / 2]))[2 * lane + i % 2] =
                    float_to_half(sum);
            else
                ((float *)operand_pointer(warp, d[i]))[lane] = sum;
        }
    count_mma(warp, 2 * PRODUCTS * SIZE * SIZE * K);
    return ACTION_NEXT;
}
