/* Warp-level matrix instructions: PTX ISA 9.7.14. All require the full warp. */
#include "ptx/execute.h"

#include <string.h>

enum action require_full_warp(struct warp *warp, const struct instruction *instruction,
                              uint32_t mask) {
    if (mask == ALL_LANES)
        return ACTION_NEXT;
    return fault_at(warp, instruction, __builtin_ctz(mask), PTX_FAULT_LANES_DISAGREE, 0,
                    "executed a warp-wide instruction with lanes 0x%08x only: all 32 are required",
                    mask);
}

/* ldmatrix and stmatrix: lane 8i + r holds the address of row r of matrix i; lane l holds row l /
   4, columns 2 (l % 4) and + 1 of every matrix. Therefore the bytes of a register are the rows in
   order. With fewer than four matrices, the addresses of the other lanes are ignored. */
static enum action translate_rows(struct warp *warp, const struct instruction *instruction,
                                  uint32_t base_place, bool is_store, uint8_t *pointers[LANES]) {
    const struct access *access = &instruction->as.access;
    uint32_t rows = access->vector == 4 ? ALL_LANES : (1u << 8 * access->vector) - 1;
    if (translate_lanes(warp, instruction, access, base_place, rows, 16, is_store, pointers) ==
        ACTION_FAULT)
        return ACTION_FAULT;
    struct block *block = warp->block;
    for (int i = 0; i < 8 * access->vector; i++)
        if (pointers[i] < block->shared || pointers[i] >= block->shared + block->shared_bytes)
            return fault_at(warp, instruction, i, PTX_FAULT_UNDEFINED, 0,
                            "passed an address that is not in shared memory");
    block->counts->shared_bytes += (uint64_t)(128 * access->vector);
    block->counts->shared_wavefronts += (uint64_t)count_wavefronts(warp, pointers, rows, 16);
    if (critical_path_pace(warp) && !is_store)
        critical_path_latency(warp, critical_path_pace(warp)->shared);
    return ACTION_NEXT;
}

static void transpose_tile(uint16_t tile[64]) {
    for (int row = 0; row < 8; row++)
        for (int column = 0; column < row; column++) {
            uint16_t swapped = tile[8 * row + column];
            tile[8 * row + column] = tile[8 * column + row];
            tile[8 * column + row] = swapped;
        }
}

/* operands: registers, base */
EXECUTE(ldmatrix) {
    const struct access *access = &instruction->as.access;
    uint8_t *rows[LANES];
    if (require_full_warp(warp, instruction, mask) == ACTION_FAULT ||
        translate_rows(warp, instruction, instruction->operands[access->vector], false, rows) ==
            ACTION_FAULT)
        return ACTION_FAULT;
    for (int matrix = 0; matrix < access->vector; matrix++) {
        uint16_t tile[64];
        for (int row = 0; row < 8; row++)
            memcpy(&tile[8 * row], rows[8 * matrix + row], 16);
        if (access->transposed)
            transpose_tile(tile);
        memcpy(operand_pointer(warp, instruction->operands[matrix]), tile, sizeof tile);
    }
    return ACTION_NEXT;
}

/* operands: base, registers */
EXECUTE(stmatrix) {
    const struct access *access = &instruction->as.access;
    uint8_t *rows[LANES];
    if (require_full_warp(warp, instruction, mask) == ACTION_FAULT ||
        translate_rows(warp, instruction, instruction->operands[0], true, rows) == ACTION_FAULT)
        return ACTION_FAULT;
    for (int matrix = 0; matrix < access->vector; matrix++) {
        uint16_t tile[64];
        memcpy(tile, operand_pointer(warp, instruction->operands[1 + matrix]), sizeof tile);
        if (access->transposed)
            transpose_tile(tile);
        for (int row = 0; row < 8; row++)
            memcpy(rows[8 * matrix + row], &tile[8 * row], 16);
    }
    return ACTION_NEXT;
}

/* operands: d, a */
EXECUTE(movmatrix) {
    uint16_t tile[64];
    if (require_full_warp(warp, instruction, mask) == ACTION_FAULT)
        return ACTION_FAULT;
    memcpy(tile, operand_pointer(warp, instruction->operands[1]), sizeof tile);
    transpose_tile(tile);
    memcpy(operand_pointer(warp, instruction->operands[0]), tile, sizeof tile);
    return ACTION_NEXT;
}

void count_mma(struct warp *warp, int operations) {
    warp->block->counts->mma_operations += (uint64_t)operations;
    if (critical_path_pace(warp)) {
        critical_path_advance(warp, operations / critical_path_pace(warp)->matrix_operations);
        critical_path_latency(warp, critical_path_pace(warp)->matrix);
    }
}

/* operands: d, a, b, c */
EXECUTE(mma) {
    const struct matrix_shape *shape = &instruction->as.matrix;
    if (require_full_warp(warp, instruction, mask) == ACTION_FAULT)
        return ACTION_FAULT;
    int per_b = shape->b_registers, per_a = 2 * per_b, per_d = shape->half_accumulators ? 2 : 4;
    void *d[4];
    const void *a[4], *b[2], *c[4];
    const uint32_t *operand = instruction->operands;
    for (int i = 0; i < per_d; i++)
        d[i] = operand_pointer(warp, *operand++);
    for (int i = 0; i < per_a; i++)
        a[i] = operand_pointer(warp, *operand++);
    for (int i = 0; i < per_b; i++)
        b[i] = operand_pointer(warp, *operand++);
    for (int i = 0; i < per_d; i++)
        c[i] = operand_pointer(warp, *operand++);
    enter_float_mode(warp, FLOAT_NEAREST);
    warp->kernel->module->lanes.matrix(shape, d, a, b, c);
    count_mma(warp, 2 * 16 * 8 * shape->k);
    return ACTION_NEXT;
}
