/* mma.sp: PTX ISA 9.7.14.6. Half of a's columns are zeros and are not stored; the metadata names
   the stored ones. a's registers are those of a dense matrix of the stored columns, b's those of
   the full k.

   Four bits of metadata describe `width` columns: two indices of quarters that are both stored; for
   tf32, both halves of one column. Of a row's four lanes 4g .. 4g + 3, starting with the one that
   the selector chooses, the first, second ... hold consecutive columns: one word for row g in its
   lower half and for row g + 8 in its upper half if `paired` (16-bit formats and tf32), else one
   lane for row g and the next for row g + 8.

   Products are summed like those of a dense matrix of the stored columns. ptxas (13.0) lowers fp8
   to two f16 mma, each of two in four stored columns, and an addition. */
#include "ptx/execute.h"
#include "ptx/half.h"

#include <string.h>

enum { M = 16, N = 8 };

/* Decodes four bits that describe `width` columns from `column` on into the indices of the stored
   columns; false if invalid. */
static bool decode_metadata(const struct sparsity *sparsity, uint32_t bits, int column,
                            uint8_t *sparse_columns) {
    int first = (int)(bits & 3), second = (int)(bits >> 2), half = sparsity->width / 2;
    if (half == 1) {
        *sparse_columns = (uint8_t)(column + first / 2);
        return first % 2 == 0 && second == first + 1;
    }
    for (int i = 0; i < half / 2; i++) {
        sparse_columns[i] = (uint8_t)(column + first * half / 2 + i);
        sparse_columns[half / 2 + i] = (uint8_t)(column + second * half / 2 + i);
    }
    return sparsity->ordered ? first < second : first != second;
}

int read_sparse_columns(struct warp *warp, const struct instruction *instruction,
                        const struct sparsity *sparsity, uint32_t place, int count,
                        uint8_t sparse_columns[16][SPARSE_COLUMNS_MAX]) {
    const uint32_t *words = operand_pointer(warp, place);
    for (int row = 0; row < M; row++)
        for (int i = 0; i < count / sparsity->width; i++) {
            bool is_lower = row >= 8;
            int lane = row % 8 * 4 + sparsity->first, shift;
            lane += sparsity->pairs_rows ? i / 4 : i / 8 * 2 + is_lower;
            shift = sparsity->pairs_rows ? i % 4 * 4 + is_lower * 16 : i % 8 * 4;
            uint32_t bits = words[lane] >> shift & 15;
            if (!decode_metadata(sparsity, bits, i * sparsity->width,
                                 &sparse_columns[row][i * sparsity->width / 2]))
                return fault_at(
                    warp, instruction, lane, PTX_FAULT_UNDEFINED, 0,
                    "used invalid sparsity metadata 0x%08x: 0x%x does not select two positions%s",
                    words[lane], bits, sparsity->ordered ? " in ascending order" : "");
        }
    return 0;
}

/* Reads a register's tile of 8 rows of 16 bytes; returns the elements per row. */
static int read_tile(const struct warp *warp, uint32_t place, enum matrix_format format,
                     float tile[8 * 16]) {
    const void *lanes = operand_pointer(warp, place);
    if (format != MATRIX_TF32) {
        int step = format == MATRIX_F16 || format == MATRIX_BF16 ? 8 : 16;
        warp->kernel->module->lanes.widen(tile, lanes, 8 * step, format);
        return step;
    }
    for (int lane = 0; lane < LANES; lane++)
        tile[lane] = bits_float(((const uint32_t *)lanes)[lane] & ~0x1fffu);
    return 4;
}

/* A lane's adjacent pair in row g + 8 (i % 2), column 8 (i / 2) + 2t, of registers i or 2i and
   2i + 1. */
static float *pair_at(float (*sums)[MMA_COLUMNS_MAX], int lane, int i) {
    return &sums[lane / 4 + i % 2 * 8][i / 2 * 8 + lane % 4 * 2];
}

void read_sums(const struct warp *warp, const uint32_t *places, int n, bool halves,
               float (*sums)[MMA_COLUMNS_MAX]) {
    for (int i = 0; i < n / 4; i++)
        for (int next = 0; next < 2; next++) {
            const void *from = operand_pointer(warp, places[halves ? i : 2 * i + next]);
            for (int lane = 0; lane < LANES; lane++)
                pair_at(sums, lane, i)[next] =
                    halves ? half_to_float(((const uint16_t *)from)[2 * lane + next])
                           : ((const float *)from)[lane];
        }
}

void write_sums(const struct warp *warp, const uint32_t *places, int n, bool halves,
                float (*sums)[MMA_COLUMNS_MAX]) {
    for (int i = 0; i < n / 4; i++)
        for (int next = 0; next < 2; next++) {
            void *to = operand_pointer(warp, places[halves ? i : 2 * i + next]);
            for (int lane = 0; lane < LANES; lane++)
                if (halves)
                    ((uint16_t *)to)[2 * lane + next] =
                        round_accumulator_to_half(pair_at(sums, lane, i)[next]);
                else
                    ((float *)to)[lane] = pair_at(sums, lane, i)[next];
        }
}

struct mma_operands {
    float left[M][MMA_DEPTH_MAX], right[2 * MMA_DEPTH_MAX][MMA_COLUMNS_MAX];
    uint8_t sparse_columns[M][SPARSE_COLUMNS_MAX];
};

static void add_mma(const struct warp *warp, const struct matrix_shape *shape,
                    const struct mma_operands *mma_operands, float (*sums)[MMA_COLUMNS_MAX]) {
    warp->kernel->module->lanes.sparse_rows(
        shape, N, sums, (const float(*)[MMA_DEPTH_MAX])mma_operands->left,
        (const float(*)[MMA_COLUMNS_MAX])mma_operands->right,
        (const uint8_t(*)[SPARSE_COLUMNS_MAX])mma_operands->sparse_columns);
}

/* fp8: two in four stored columns come from four in eight columns. */
static void add_fp8_products(const struct warp *warp, const struct mma_operands *mma_operands,
                             float (*sums)[MMA_COLUMNS_MAX]) {
    const struct matrix_shape of_halves = {.k = 16};
    static _Thread_local float total[M][MMA_COLUMNS_MAX];
    static _Thread_local struct mma_operands halves;
    memset(total, 0, sizeof total);
    memset(halves.left, 0, sizeof halves.left);
    for (int part = 0; part < 2; part++) {
        for (int i = 0; i < M * 16; i++) {
            int row = i / 16, k = i % 16, from = k / 2 * 4 + 2 * part + k % 2;
            halves.left[row][k] = mma_operands->left[row][from];
            halves.sparse_columns[row][k] =
                (uint8_t)(mma_operands->sparse_columns[row][from] / 8 * 4 +
                          mma_operands->sparse_columns[row][from] % 4);
        }
        for (int k = 0; k < 32; k++)
            memcpy(halves.right[k], mma_operands->right[k / 4 * 8 + 4 * part + k % 4],
                   N * sizeof **halves.right);
        add_mma(warp, &of_halves, &halves, total);
    }
    for (int i = 0; i < M * N; i++)
        sums[i / N][i % N] += total[i / N][i % N];
}

/* operands: d, a, b, c, metadata */
EXECUTE(mma_sparse) {
    const struct mma_sparse_form *form = &instruction->as.sparse;
    const struct matrix_shape *shape = &form->shape;
    bool is_small = shape->left == MATRIX_E4M3 || shape->left == MATRIX_E5M2;
    int registers = shape->k / (shape->left == MATRIX_TF32 ? 2
                                : is_small                 ? 8
                                                           : 4); /* registers of a, and of b */
    int sum_registers = shape->half_accumulators ? 2 : 4;
    const uint32_t *a = instruction->operands + sum_registers, *b = a + registers;
    const uint32_t *c = b + registers;
    static _Thread_local struct mma_operands mma_operands;
    static _Thread_local float sums[M][MMA_COLUMNS_MAX];
    float tile[8 * 16];
    if (require_full_warp(warp, instruction, mask) == ACTION_FAULT ||
        read_sparse_columns(warp, instruction, &form->sparsity, c[sum_registers], 2 * shape->k,
                            mma_operands.sparse_columns) < 0)
        return ACTION_FAULT;
    memset(mma_operands.left, 0, sizeof mma_operands.left);
    for (int r = 0; r < registers; r++) {
        int step = read_tile(warp, a[r], shape->left, tile);
        for (int row = 0; row < 8; row++)
            memcpy(&mma_operands.left[r % 2 * 8 + row][r / 2 * step], &tile[row * step],
                   (size_t)step * sizeof *tile);
        step = read_tile(warp, b[r], shape->right, tile);
        for (int i = 0; i < N * step; i++)
            mma_operands.right[r * step + i % step][i / step] = tile[i];
    }
    read_sums(warp, c, N, shape->half_accumulators, sums);
    enter_float_mode(warp, FLOAT_NEAREST);
    if (is_small)
        add_fp8_products(warp, &mma_operands, sums);
    else
        add_mma(warp, shape, &mma_operands, sums);
    write_sums(warp, instruction->operands, N, shape->half_accumulators, sums);
    count_mma(warp, 2 * M * N * shape->k);
    return ACTION_NEXT;
}
