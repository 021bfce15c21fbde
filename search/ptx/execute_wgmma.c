/* wgmma: PTX ISA 9.7.15. A warp computes its 16 rows of the result at issue; a wait completes only
   when all four warps of the warpgroup have issued the awaited groups, and then the operands in
   shared memory must be unchanged. This detects a buffer that is refilled before the wait.
   Registers read before the wait are not detected (ptxas inserts that wait itself). */
#include "base/memory.h"
#include "ptx/execute.h"
#include "ptx/half.h"
#include "ptx/instrument.h"

#include <string.h>

enum {
    WARPGROUP = 4,
    ROWS = 16,
    K = 16,            /* k of f16; tf32 has half, 8-bit types twice as many */
    NUMBERS_MAX = 256, /* k of b1 */
    PENDING_MAX = 4096 /* wgmmas in flight per warp */
};

/* ---- operands in shared memory: 9.7.15.5.1 ---- */

/* A decoded matrix descriptor, in bytes. */
struct descriptor {
    uint32_t start, leading, stride;
    uint32_t span; /* of the swizzle: 128, 64, 32; 0: none */
    uint32_t mask; /* applied to address bits from 7 on, which permute the 16-byte chunks */
};

static struct descriptor decode_descriptor(uint64_t bits) {
    static const uint32_t spans[] = {0, 128, 64, 32};
    uint32_t span = spans[bits >> 62];
    return (struct descriptor){.start = (uint32_t)(bits & 0x3fff) << 4,
                               .leading = (uint32_t)(bits >> 16 & 0x3fff) << 4,
                               .stride = (uint32_t)(bits >> 32 & 0x3fff) << 4,
                               .span = span,
                               .mask = span ? span / 16 - 1 : 0};
}

/* The offset of 16 bytes that are contiguous along the major dimension: `row` is the index in the
   other dimension, `chunk` the index along the major one. Atoms and core matrices are described in
   templates/lib/wgmma.cuh. (Only with a sparse a does a column of b exceed an atom, at 32 bytes;
   PTX does not specify this case: it is treated like MN-major rows.) */
static uint32_t chunk_offset(const struct descriptor *from, bool mn_major, uint32_t row,
                             uint32_t chunk) {
    uint32_t offset = from->start;
    uint32_t per_row = from->span / 16; /* chunks per row */
    if (!from->span)
        offset += row % 8 * 16 + (mn_major ? row / 8 * from->leading + chunk * from->stride
                                           : row / 8 * from->stride + chunk * from->leading);
    else
        offset += row % 8 * from->span + row / 8 * from->stride + chunk / per_row * from->leading +
                  chunk % per_row * 16;
    return offset ^ (offset >> 7 & from->mask) << 4;
}

/* Copies `rows` rows of `chunks` chunks from `first_row`, `first_chunk` on to contiguous memory.
   Returns -1 with a fault if they are not all in shared memory. */
static int gather_chunks(struct warp *warp, const struct instruction *instruction, uint64_t bits,
                         bool mn_major, uint32_t first_row, uint32_t rows, uint32_t first_chunk,
                         uint32_t chunks, uint16_t *out) {
    struct descriptor from = decode_descriptor(bits);
    struct block *block = warp->block;
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t chunk = 0; chunk < chunks; chunk++, out += 8) {
            uint32_t offset = chunk_offset(&from, mn_major, first_row + row, first_chunk + chunk);
            if (offset + 16 > block->shared_bytes)
                return fault_at(
                    warp, instruction, 0, PTX_FAULT_LOAD, offset,
                    "used a wgmma descriptor that reads shared memory 0x%x: out of bounds (%u "
                    "bytes)",
                    offset, block->shared_bytes);
            memcpy(out, block->shared + offset, 16);
            if (block->racecheck)
                instrument_async_shared(warp, instruction, 0, block, offset, 16, false);
        }
    return 0;
}

/* The operands of a wgmma in memory order: K-major in rows of 32 bytes (64 for b with a sparse a),
   MN-major in rows of m or n elements. */
struct raw_operands {
    uint16_t a[ROWS * K], b[MMA_COLUMNS_MAX * 2 * K];
};

/* k of a column of b, in units of 16 bits. */
static int b_depth(const struct wgmma_form *form) {
    return form->sparsity.is_sparse ? 2 * K : K;
}

static int gather_operands(struct warp *warp, const struct instruction *instruction, uint64_t a,
                           uint64_t b, struct raw_operands *raw_operands) {
    const struct wgmma_form *form = &instruction->as.wgmma;
    uint32_t n = (uint32_t)form->n, depth = (uint32_t)b_depth(form);
    uint32_t quarter = (uint32_t)(warp->index % WARPGROUP);
    if (form->b_mn_major
            ? gather_chunks(warp, instruction, b, true, 0, depth, 0, n / 8, raw_operands->b)
            : gather_chunks(warp, instruction, b, false, 0, n, 0, depth / 8, raw_operands->b))
        return -1;
    if (form->a_in_registers)
        return 0;
    return form->a_mn_major ? gather_chunks(warp, instruction, a, true, 0, K, 2 * quarter, ROWS / 8,
                                            raw_operands->a)
                            : gather_chunks(warp, instruction, a, false, ROWS * quarter, ROWS, 0,
                                            K / 8, raw_operands->a);
}

static uint64_t hash_operands(const struct wgmma_form *form,
                              const struct raw_operands *raw_operands) {
    uint64_t operand_hash = 0, word;
    const uint16_t *const parts[] = {raw_operands->b, raw_operands->a};
    const int counts[] = {form->n * b_depth(form), form->a_in_registers ? 0 : ROWS * K};
    for (int part = 0; part < 2; part++)
        for (int i = 0; i < counts[part]; i += 4) {
            memcpy(&word, parts[part] + i, sizeof word);
            operand_hash = (operand_hash ^ word) * 0x9e3779b97f4a7c15ull;
            operand_hash ^= operand_hash >> 29;
        }
    return operand_hash;
}

/* ---- computation ---- */

/* Register layout of a as in mma (mma.inc). */
static void read_a_registers(const struct warp *warp, const uint32_t *operands,
                             uint16_t out[ROWS * K]) {
    for (int i = 0; i < 4; i++) {
        const uint16_t *pairs = operand_pointer(warp, operands[i]);
        for (int lane = 0; lane < LANES; lane++)
            memcpy(&out[(lane / 4 + i % 2 * 8) * K + lane % 4 * 2 + i / 2 * 8], &pairs[2 * lane],
                   4);
    }
}

/* The operands as matrices; `sparse_columns` selects the rows of b for the columns of a sparse a.
 */
struct mma_operands {
    float left[ROWS][MMA_DEPTH_MAX], right[2 * MMA_DEPTH_MAX][MMA_COLUMNS_MAX];
    uint8_t sparse_columns[ROWS][SPARSE_COLUMNS_MAX];
};

/* tf32 has the width of fp32 and is always K-major. */
static void unpack_tf32_operands(const struct wgmma_form *form,
                                 const struct raw_operands *raw_operands,
                                 struct mma_operands *mma_operands) {
    uint32_t a[ROWS * K / 2], digits = ~0x1fffu;
    static _Thread_local uint32_t b[MMA_COLUMNS_MAX * K];
    uint32_t sign = form->a_negated != form->b_negated ? 1u << 31 : 0;
    int depth = b_depth(form) / 2;
    memcpy(a, raw_operands->a, sizeof a);
    memcpy(b, raw_operands->b, sizeof b);
    for (int i = 0; i < ROWS * K / 2; i++)
        mma_operands->left[i / (K / 2)][i % (K / 2)] = bits_float((a[i] & digits) ^ sign);
    for (int k = 0; k < depth; k++)
        for (int column = 0; column < form->n; column++)
            mma_operands->right[k][column] = bits_float(b[column * depth + k] & digits);
}

/* Converts operands from memory order to rows of the product. */
static void unpack_operands(const struct lanes *lanes, const struct wgmma_form *form,
                            const struct raw_operands *raw_operands,
                            struct mma_operands *mma_operands) {
    float a[ROWS * MMA_DEPTH_MAX];
    static _Thread_local float b[MMA_COLUMNS_MAX * 2 * MMA_DEPTH_MAX];
    int b_k = form->sparsity.is_sparse ? 2 * form->k : form->k;
    if (form->left == MATRIX_TF32) {
        unpack_tf32_operands(form, raw_operands, mma_operands);
        return;
    }
    bool a_mn_major = form->a_mn_major && !form->a_in_registers;
    lanes->widen(a, raw_operands->a, ROWS * form->k, form->left);
    lanes->widen(b, raw_operands->b, form->n * b_k, form->right);
    for (int row = 0; row < ROWS; row++)
        for (int k = 0; k < form->k; k++) {
            float value = a_mn_major ? a[k * ROWS + row] : a[row * form->k + k];
            mma_operands->left[row][k] = form->a_negated != form->b_negated ? -value : value;
        }
    for (int k = 0; k < b_k; k++)
        for (int column = 0; column < form->n; column++)
            mma_operands->right[k][column] =
                form->b_mn_major ? b[k * form->n + column] : b[column * b_k + k];
}

static void multiply_float(const struct lanes *lanes, const struct wgmma_form *form,
                           const struct raw_operands *raw_operands,
                           struct mma_operands *mma_operands, float sums[ROWS][MMA_COLUMNS_MAX]) {
    const struct matrix_shape shape = {.k = form->k,
                                       .left = form->left,
                                       .right = form->right,
                                       .half_accumulators = form->half_accumulators};
    unpack_operands(lanes, form, raw_operands, mma_operands);
    if (form->sparsity.is_sparse)
        lanes->sparse_rows(&shape, form->n, sums, (const float(*)[MMA_DEPTH_MAX])mma_operands->left,
                           (const float(*)[MMA_COLUMNS_MAX])mma_operands->right,
                           (const uint8_t(*)[SPARSE_COLUMNS_MAX])mma_operands->sparse_columns);
    else
        lanes->rows(&shape, form->n, sums, (const float(*)[MMA_DEPTH_MAX])mma_operands->left,
                    (const float(*)[MMA_COLUMNS_MAX])mma_operands->right);
}

/* `sums` holds the bits of 32-bit integers. */
static void multiply_integers(const struct wgmma_form *form,
                              const struct raw_operands *raw_operands,
                              const struct mma_operands *mma_operands,
                              float sums[ROWS][MMA_COLUMNS_MAX]) {
    int16_t left[ROWS][NUMBERS_MAX], right[NUMBERS_MAX], chosen[SPARSE_COLUMNS_MAX];
    const uint8_t *a = (const uint8_t *)raw_operands->a, *b = (const uint8_t *)raw_operands->b;
    bool is_sparse = form->sparsity.is_sparse;
    int depth = 2 * b_depth(form);
    for (int row = 0; row < ROWS; row++)
        unpack_integers(left[row], a + row * 2 * K, 2 * K, form->a);
    for (int column = 0; column < form->n; column++) {
        unpack_integers(right, b + column * depth, depth, form->b);
        for (int row = 0; row < ROWS; row++) {
            int64_t sum = (int32_t)float_bits(sums[row][column]);
            for (int k = 0; k < form->k && is_sparse; k++)
                chosen[k] = right[mma_operands->sparse_columns[row][k]];
            sum += integer_dot_product(left[row], is_sparse ? chosen : right, form->k, false);
            sums[row][column] = bits_float((uint32_t)sum_to_s32(sum, form->saturates));
        }
    }
}

static void add_pending(struct warp *warp, const struct pending_wgmma *wgmma) {
    warp->wgmmas = xgrow(warp->wgmmas, warp->wgmma_count, sizeof *warp->wgmmas);
    warp->wgmmas[warp->wgmma_count++] = *wgmma;
}

/* operands: d, a (four registers, or a descriptor), b, predicate, metadata of a sparse a */
EXECUTE(wgmma) {
    const struct wgmma_form *form = &instruction->as.wgmma;
    const struct lanes *lanes = &warp->kernel->module->lanes;
    struct block *block = warp->block;
    const uint32_t *a =
        instruction->operands + (form->half_accumulators ? form->n / 4 : form->n / 2);
    const uint32_t *b = a + (form->a_in_registers ? 4 : 1);
    static _Thread_local struct raw_operands raw_operands;
    static _Thread_local struct mma_operands mma_operands;
    static _Thread_local float sums[ROWS][MMA_COLUMNS_MAX];
    if (require_full_warp(warp, instruction, mask) == ACTION_FAULT)
        return ACTION_FAULT;
    if (warp->index / WARPGROUP * WARPGROUP + WARPGROUP > block->warp_count)
        return fault_at(warp, instruction, 0, PTX_FAULT_UNDEFINED, 0,
                        "issued a wgmma in a warpgroup of %d warps: 4 are required",
                        block->warp_count % WARPGROUP);
    if (warp->wgmma_count >= PENDING_MAX)
        return fault_at(warp, instruction, 0, PTX_FAULT_UNDEFINED, 0,
                        "issued more than %d wgmmas without a wait", PENDING_MAX);
    struct pending_wgmma wgmma = {
        .instruction = instruction,
        .group = warp->wgmma_group,
        .a = form->a_in_registers ? 0 : *(uint64_t *)operand_pointer(warp, *a),
        .b = *(uint64_t *)operand_pointer(warp, *b)};
    if (block->racecheck) {
        instrument_check_uniform(warp, instruction, operand_pointer(warp, *b), 8, mask,
                                 "a descriptor");
        if (!form->a_in_registers)
            instrument_check_uniform(warp, instruction, operand_pointer(warp, *a), 8, mask,
                                     "a descriptor");
    }
    if ((form->sparsity.is_sparse &&
         read_sparse_columns(warp, instruction, &form->sparsity, b[2], 2 * form->k,
                             mma_operands.sparse_columns) < 0) ||
        gather_operands(warp, instruction, wgmma.a, wgmma.b, &raw_operands) < 0)
        return ACTION_FAULT;
    wgmma.operand_hash = hash_operands(form, &raw_operands);
    add_pending(warp, &wgmma);
    if (form->a_in_registers)
        read_a_registers(warp, a, raw_operands.a);
    enter_float_mode(warp, FLOAT_NEAREST);
    uint32_t adds = *(uint32_t *)operand_pointer(warp, b[1]);
    if ((adds & 1) != form->predicate_negated)
        read_sums(warp, instruction->operands, form->n, form->half_accumulators, sums);
    else
        memset(sums, 0, sizeof sums);
    if (form->is_integer)
        multiply_integers(form, &raw_operands, &mma_operands, sums);
    else
        multiply_float(lanes, form, &raw_operands, &mma_operands, sums);
    write_sums(warp, instruction->operands, form->n, form->half_accumulators, sums);
    block->counts->mma_operations += (uint64_t)(2 * ROWS * form->k * form->n);
    warp->path.operations += 2 * ROWS * form->k * form->n;
    uint64_t bytes =
        (uint64_t)(form->n * b_depth(form) * 2 / WARPGROUP) + (form->a_in_registers ? 0 : 512);
    block->counts->shared_bytes += bytes;
    block->counts->shared_wavefronts += bytes / 128;
    return ACTION_NEXT;
}

EXECUTE(wgmma_commit) {
    (void)instruction, (void)mask;
    if (critical_path_pace(warp))
        critical_path_commit_wgmma(warp);
    warp->wgmma_group++;
    block_signal_event(warp->block);
    return ACTION_NEXT;
}

/* Completes the wgmmas of groups before `end`; fails if their operands changed after issue. */
static int complete_groups(struct warp *warp, uint32_t end) {
    int remaining = 0;
    for (int i = 0; i < warp->wgmma_count; i++) {
        const struct pending_wgmma *wgmma = &warp->wgmmas[i];
        static _Thread_local struct raw_operands raw_operands;
        if (wgmma->group >= end) {
            warp->wgmmas[remaining++] = *wgmma;
            continue;
        }
        if (gather_operands(warp, wgmma->instruction, wgmma->a, wgmma->b, &raw_operands) < 0)
            return -1;
        if (hash_operands(&wgmma->instruction->as.wgmma, &raw_operands) == wgmma->operand_hash)
            continue;
        return fault_at(
            warp, wgmma->instruction, 0, PTX_FAULT_UNDEFINED, 0,
            "issued a wgmma, and its shared memory operands were overwritten before its wait");
    }
    warp->wgmma_count = remaining;
    return 0;
}

/* as.product.n: number of youngest groups that may stay pending. Before it waits for the others,
   all warps get a turn, so that premature writes to the operands happen and are detected. */
EXECUTE(wgmma_wait) {
    uint32_t committed = warp->wgmma_group, allowed = (uint32_t)instruction->as.wgmma.n;
    uint32_t end = committed > allowed ? committed - allowed : 0;
    struct block *block = warp->block;
    struct warp *first = &block->warps[warp->index / WARPGROUP * WARPGROUP];
    int count =
        block->warp_count - first->index < WARPGROUP ? block->warp_count - first->index : WARPGROUP;
    if (warp->wgmma_yielded < end) {
        warp->wgmma_yielded = end;
        return warp_yield_group(warp, mask);
    }
    for (int i = 0; i < count; i++)
        if (first[i].live && first[i].wgmma_group < end)
            return warp_await_event(warp, mask);
    for (int i = 0; i < count; i++)
        if (complete_groups(&first[i], end) < 0)
            return ACTION_FAULT;
    if (critical_path_pace(warp) && end > 0)
        for (int i = 0; i < count; i++)
            critical_path_wait(warp, first[i].path.wgmmas[(end - 1) % CRITICAL_PATH_GROUPS] +
                                         critical_path_pace(warp)->matrix);
    return ACTION_NEXT;
}
