/* wmma: PTX ISA 9.7.14.3 to 9.7.14.5. PTX leaves the fragment layout open. Here element e of lane
   l, with E elements per lane, has the row-major index (l E + e) modulo the matrix's size; a
   fragment with more elements than the matrix holds each of them several times, as on a GPU.
   Products are summed as by mma (mma.inc, execute_mma_int.c). */
#include "ptx/execute.h"
#include "ptx/half.h"
#include "ptx/instrument.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 16 /* bytes */, TILE_ROWS = 16, WMMA_ELEMENTS_MAX = 32 * 16, NUMBERS_MAX = 128 };

struct extent {
    int rows, columns;
};

static struct extent extent_of(const struct wmma_form *form, enum wmma_part part) {
    if (part == WMMA_A)
        return (struct extent){form->m, form->k};
    return part == WMMA_B ? (struct extent){form->k, form->n} : (struct extent){form->m, form->n};
}

/* ---- between memory and fragments ---- */

struct matrix_transfer {
    struct warp *warp;
    const struct instruction *instruction;
    bool is_store;
    uint8_t matrix[WMMA_ELEMENTS_MAX * 4]; /* row-major */
};

/* Moves `count` elements that are contiguous in memory; in the matrix the first has index `first`
   and the others follow at `step`. */
static void copy_chunk(struct matrix_transfer *matrix_transfer, uint8_t *host, int count, int first,
                       int step, int element_bytes) {
    for (int i = 0; i < count; i++) {
        uint8_t *element = matrix_transfer->matrix + (first + i * step) * element_bytes;
        uint8_t *other = host + i * element_bytes;
        memcpy(matrix_transfer->is_store ? other : element,
               matrix_transfer->is_store ? element : other, (size_t)element_bytes);
    }
}

/* Each row (column) starts at a multiple of the size of a lane's fragment (PTX ISA, "Matrix
   Storage" of wmma). Where that exceeds mma.h's requirement of 16 bytes for the stride, GPUs accept
   that. */
static enum action check_alignment(struct warp *warp, const struct instruction *instruction,
                                   uint64_t address, uint64_t stride, uint64_t fragment) {
    uint64_t step = fragment < CHUNK ? fragment : CHUNK;
    if (address % fragment == 0 && stride % step == 0)
        return ACTION_NEXT;
    return fault_at(warp, instruction, 0, PTX_FAULT_MISALIGNED, address,
                    "used wmma on a matrix at 0x%llx with a stride of %llu bytes: they must be "
                    "multiples of %llu and %llu",
                    (unsigned long long)address, (unsigned long long)stride,
                    (unsigned long long)fragment, (unsigned long long)step);
}

static enum action copy_matrix(struct matrix_transfer *matrix_transfer, uint32_t mask) {
    struct warp *warp = matrix_transfer->warp;
    const struct instruction *instruction = matrix_transfer->instruction;
    const struct wmma_form *form = &instruction->as.wmma;
    const void *base =
        form->where.base_bytes ? operand_pointer(warp, instruction->operands[0]) : NULL;
    struct extent extent = extent_of(form, form->part);
    int bytes = type_bytes(form->type), hint = -1;
    int lines = form->column_major ? extent.columns : extent.rows;
    int length = form->column_major ? extent.rows : extent.columns;
    int fragment = form->registers * (bytes > 4 ? bytes : 4);
    int chunk_bytes = fragment < CHUNK ? fragment : CHUNK;
    int chunk = length * bytes < chunk_bytes ? length : chunk_bytes / bytes;
    uint64_t address = lane_address(&form->where, base, 0);
    uint64_t stride = (uint64_t)(length * bytes);
    if (form->has_stride)
        stride = *(const uint32_t *)operand_pointer(warp, instruction->operands[1]) *
                 (uint64_t)(form->integer.bits ? form->integer.bits : 8 * bytes) / 8;
    if (warp->block->racecheck && base)
        instrument_check_uniform(warp, instruction, base, form->where.base_bytes, mask,
                                 "an address");
    if (check_alignment(warp, instruction, address, stride, (uint64_t)fragment) == ACTION_FAULT)
        return ACTION_FAULT;
    for (int line = 0; line < lines; line++)
        for (int i = 0; i < length; i += chunk) {
            uint64_t at = address + (uint64_t)line * stride + (uint64_t)(i * bytes);
            uint8_t *host = translate_address(warp, instruction, form->where.space, 0, at,
                                              chunk * bytes, matrix_transfer->is_store, &hint);
            if (!host)
                return ACTION_FAULT;
            if (warp->block->racecheck)
                instrument_async_access(warp, instruction, form->where.space, at,
                                        (uint32_t)(chunk * bytes), matrix_transfer->is_store);
            if (form->column_major)
                copy_chunk(matrix_transfer, host, chunk, i * extent.columns + line, extent.columns,
                           bytes);
            else
                copy_chunk(matrix_transfer, host, chunk, line * extent.columns + i, 1, bytes);
        }
    return ACTION_NEXT;
}

/* Copies between a fragment in registers and a row-major matrix. */
static void copy_fragment(struct warp *warp, const uint32_t *places, int registers, int size,
                          int element_bytes, uint8_t *matrix, bool to_registers) {
    int register_bytes = element_bytes > 4 ? element_bytes : 4;
    int per_register = register_bytes / element_bytes, per_lane = registers * per_register;
    for (int lane = 0; lane < LANES; lane++)
        for (int e = 0; e < per_lane; e++) {
            uint8_t *place = operand_pointer(warp, places[e / per_register]);
            uint8_t *register_element =
                place + lane * register_bytes + e % per_register * element_bytes;
            uint8_t *element = matrix + (lane * per_lane + e) % size * element_bytes;
            memcpy(to_registers ? register_element : element,
                   to_registers ? element : register_element, (size_t)element_bytes);
        }
}

static enum action move_fragment(struct warp *warp, const struct instruction *instruction,
                                 uint32_t mask, bool is_store) {
    const struct wmma_form *form = &instruction->as.wmma;
    struct extent extent = extent_of(form, form->part);
    struct matrix_transfer matrix_transfer = {
        .warp = warp, .instruction = instruction, .is_store = is_store};
    const uint32_t *places = instruction->operands + 2;
    int size = extent.rows * extent.columns, bytes = type_bytes(form->type);
    if (require_full_warp(warp, instruction, mask) == ACTION_FAULT)
        return ACTION_FAULT;
    if (is_store)
        copy_fragment(warp, places, form->registers, size, bytes, matrix_transfer.matrix, false);
    if (copy_matrix(&matrix_transfer, mask) == ACTION_FAULT)
        return ACTION_FAULT;
    if (!is_store)
        copy_fragment(warp, places, form->registers, size, bytes, matrix_transfer.matrix, true);
    return ACTION_NEXT;
}

/* operands: base, stride, registers */
EXECUTE(wmma_load) {
    return move_fragment(warp, instruction, mask, false);
}

EXECUTE(wmma_store) {
    return move_fragment(warp, instruction, mask, true);
}

/* ---- computation ---- */

/* Reads a fragment as a row-major fp32 matrix. */
static int read_fragment(struct warp *warp, const struct wmma_form *form, enum wmma_part part,
                         enum type type, const uint32_t *places, float *out) {
    uint8_t bytes[WMMA_ELEMENTS_MAX * 4];
    struct extent extent = extent_of(form, part);
    int size = extent.rows * extent.columns, registers = wmma_fragment_registers(form, part, type);
    copy_fragment(warp, places, registers, size, type_bytes(type), bytes, false);
    if (type_bytes(type) == 2)
        warp->kernel->module->lanes.widen(out, bytes, size, matrix_format_of(type));
    else
        memcpy(out, bytes, (size_t)size * sizeof *out);
    for (int i = 0; i < size && type == TYPE_TF32; i++)
        out[i] = bits_float(float_bits(out[i]) & ~0x1fffu);
    return registers;
}

static void multiply_float(const struct lanes *lanes, const struct wmma_form *form, const float *a,
                           const float *b, float *c) {
    const struct matrix_shape shape = {.k = form->k,
                                       .left = matrix_format_of(form->type),
                                       .right = matrix_format_of(form->type),
                                       .half_accumulators =
                                           form->half_result && form->half_accumulator};
    float left[TILE_ROWS][MMA_DEPTH_MAX];
    static _Thread_local float right[MMA_DEPTH_MAX][MMA_COLUMNS_MAX];
    static _Thread_local float sums[TILE_ROWS][MMA_COLUMNS_MAX];
    size_t row_bytes = (size_t)form->n * sizeof(float);
    memset(right, 0, sizeof right);
    for (int k = 0; k < form->k; k++)
        memcpy(right[k], b + k * form->n, row_bytes);
    for (int first = 0; first < form->m; first += TILE_ROWS) {
        int rows = form->m - first < TILE_ROWS ? form->m - first : TILE_ROWS;
        memset(left, 0, sizeof left);
        memset(sums, 0, sizeof sums);
        for (int row = 0; row < rows; row++) {
            memcpy(left[row], a + (first + row) * form->k, (size_t)form->k * sizeof(float));
            memcpy(sums[row], c + (first + row) * form->n, row_bytes);
        }
        lanes->rows(&shape, form->n, sums, (const float(*)[MMA_DEPTH_MAX])left,
                    (const float(*)[MMA_COLUMNS_MAX])right);
        for (int row = 0; row < rows; row++)
            memcpy(c + (first + row) * form->n, sums[row], row_bytes);
    }
}

static void write_result(struct warp *warp, const struct instruction *instruction, enum type type,
                         void *sums) {
    const struct wmma_form *form = &instruction->as.wmma;
    copy_fragment(warp, instruction->operands,
                  wmma_fragment_registers(form, WMMA_ACCUMULATOR, type), form->m * form->n,
                  type_bytes(type), sums, true);
}

/* operands: d, a, b, c */
EXECUTE(wmma_mma) {
    const struct wmma_form *form = &instruction->as.wmma;
    float a[WMMA_ELEMENTS_MAX], b[WMMA_ELEMENTS_MAX], c[WMMA_ELEMENTS_MAX];
    enum type result = form->half_result ? TYPE_F16 : TYPE_F32;
    enum type accumulator = form->half_accumulator ? TYPE_F16 : TYPE_F32;
    int result_registers = wmma_fragment_registers(form, WMMA_ACCUMULATOR, result),
        size = form->m * form->n;
    const uint32_t *places = instruction->operands + result_registers;
    if (require_full_warp(warp, instruction, mask) == ACTION_FAULT)
        return ACTION_FAULT;
    enter_float_mode(warp, FLOAT_NEAREST);
    places += read_fragment(warp, form, WMMA_A, form->type, places, a);
    places += read_fragment(warp, form, WMMA_B, form->type, places, b);
    read_fragment(warp, form, WMMA_ACCUMULATOR, accumulator, places, c);
    multiply_float(&warp->kernel->module->lanes, form, a, b, c);
    uint16_t halves[WMMA_ELEMENTS_MAX];
    for (int i = 0; i < size && form->half_result; i++)
        halves[i] = round_accumulator_to_half(c[i]);
    write_result(warp, instruction, result, form->half_result ? (void *)halves : (void *)c);
    count_mma(warp, 2 * form->m * form->n * form->k);
    return ACTION_NEXT;
}

/* Reads a fragment as the bytes of a row-major matrix. */
static const uint32_t *read_bytes(struct warp *warp, const struct wmma_form *form,
                                  enum wmma_part part, enum type type, const uint32_t *places,
                                  void *out) {
    struct extent extent = extent_of(form, part);
    int registers = wmma_fragment_registers(form, part, type);
    copy_fragment(warp, places, registers, extent.rows * extent.columns, type_bytes(type), out,
                  false);
    return places + registers;
}

/* operands: d, a, b, c */
EXECUTE(wmma_mma_int) {
    const struct wmma_form *form = &instruction->as.wmma;
    uint8_t a[WMMA_ELEMENTS_MAX], b[WMMA_ELEMENTS_MAX];
    int32_t c[WMMA_ELEMENTS_MAX];
    int16_t left[NUMBERS_MAX], right[NUMBERS_MAX];
    int unit = type_bytes(form->type), k = form->k * unit * 8 / form->integer.bits;
    const uint32_t *places =
        instruction->operands + wmma_fragment_registers(form, WMMA_ACCUMULATOR, TYPE_S32);
    if (require_full_warp(warp, instruction, mask) == ACTION_FAULT)
        return ACTION_FAULT;
    places = read_bytes(warp, form, WMMA_A, form->type, places, a);
    places = read_bytes(warp, form, WMMA_B, form->type, places, b);
    read_bytes(warp, form, WMMA_ACCUMULATOR, TYPE_S32, places, c);
    for (int i = 0; i < form->m * form->n; i++) {
        int row = i / form->n, column = i % form->n;
        unpack_integers(left, a + row * form->k * unit, form->k * unit, form->integer);
        for (int j = 0; j < form->k; j++)
            unpack_integers(right + j * k / form->k, b + (j * form->n + column) * unit, unit,
                            form->integer);
        c[i] = sum_to_s32((int64_t)c[i] + integer_dot_product(left, right, k, form->is_xor),
                          form->saturates);
    }
    write_result(warp, instruction, TYPE_S32, c);
    count_mma(warp, 2 * form->m * form->n * k);
    return ACTION_NEXT;
}

/* operands: d, a, b, c */
EXECUTE(wmma_mma_double) {
    const struct wmma_form *form = &instruction->as.wmma;
    double a[WMMA_ELEMENTS_MAX / 8], b[WMMA_ELEMENTS_MAX / 8], c[WMMA_ELEMENTS_MAX / 8];
    const uint32_t *places =
        instruction->operands + wmma_fragment_registers(form, WMMA_ACCUMULATOR, TYPE_F64);
    if (require_full_warp(warp, instruction, mask) == ACTION_FAULT)
        return ACTION_FAULT;
    enter_float_mode(warp, instruction->float_mode);
    places = read_bytes(warp, form, WMMA_A, TYPE_F64, places, a);
    places = read_bytes(warp, form, WMMA_B, TYPE_F64, places, b);
    read_bytes(warp, form, WMMA_ACCUMULATOR, TYPE_F64, places, c);
    for (int i = 0; i < form->m * form->n; i++)
        for (int k = 0; k < form->k; k++)
            c[i] = fma(a[i / form->n * form->k + k], b[k * form->n + i % form->n], c[i]);
    write_result(warp, instruction, TYPE_F64, c);
    count_mma(warp, 2 * form->m * form->n * form->k);
    return ACTION_NEXT;
}
