/* wgmma: PTX ISA 9.7.15. A warp computes its 16 rows of the result at issue; a wait completes only
   when all four warps of the warpgroup have issued the awaited groups, and then the operands in
   shared memory must be unchanged. This detects a buffer that is refilled before the wait.
   Registers read before the wait are not detected (ptxas inserts that wait itself). */
#include "device/ptx/execute.h"
#include "device/ptx/half.h"
#include "device/ptx/observe.h"

#include <stdlib.h>
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

static struct descriptor unpack(uint64_t bits) {
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
static int gather(struct warp *warp, const struct instruction *instruction, uint64_t bits,
                  bool mn_major, uint32_t first_row, uint32_t rows, uint32_t first_chunk,
                  uint32_t chunks, uint16_t *out) {
    struct descriptor from = unpack(bits);
    struct block *block = warp->block;
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t chunk = 0; chunk < chunks; chunk++, out += 8) {
            uint32_t offset = chunk_offset(&from, mn_major, first_row + row, first_chunk + chunk);
            if (offset + 16 > block->shared_bytes) {
                fault_at(warp, instruction, 0, PTX_FAULT_LOAD, offset,
                         "used a wgmma descriptor that reads shared memory 0x%x: out of bounds (%u "
                         "bytes)",
                         offset, block->shared_bytes);
                return -1;
            }
            memcpy(out, block->shared + offset, 16);
            if (block->microscope)
                observe_shared(warp, instruction, 0, block, offset, 16, false);
        }
    return 0;
}

/* The operands of a wgmma in memory order: K-major in rows of 32 bytes (64 for b with a sparse a),
   MN-major in rows of m or n elements. */
struct inputs {
    uint16_t a[ROWS * K], b[PRODUCT_COLUMNS * 2 * K];
};

/* k of a column of b, in units of 16 bits. */
static int depth_of(const struct product_form *form) {
    return form->sparsity.is_sparse ? 2 * K : K;
}

static int gather_inputs(struct warp *warp, const struct instruction *instruction, uint64_t a,
                         uint64_t b, struct inputs *inputs) {
    const struct product_form *form = &instruction->as.product;
    uint32_t n = (uint32_t)form->n, depth = (uint32_t)depth_of(form);
    uint32_t quarter = (uint32_t)(warp->index % WARPGROUP);
    if (form->b_mn_major ? gather(warp, instruction, b, true, 0, depth, 0, n / 8, inputs->b)
                         : gather(warp, instruction, b, false, 0, n, 0, depth / 8, inputs->b))
        return -1;
    if (form->a_in_registers)
        return 0;
    return form->a_mn_major
               ? gather(warp, instruction, a, true, 0, K, 2 * quarter, ROWS / 8, inputs->a)
               : gather(warp, instruction, a, false, ROWS * quarter, ROWS, 0, K / 8, inputs->a);
}

static uint64_t hash_inputs(const struct product_form *form, const struct inputs *inputs) {
    uint64_t hash = 0, word;
    const uint16_t *const parts[] = {inputs->b, inputs->a};
    const int counts[] = {form->n * depth_of(form), form->a_in_registers ? 0 : ROWS * K};
    for (int part = 0; part < 2; part++)
        for (int i = 0; i < counts[part]; i += 4) {
            memcpy(&word, parts[part] + i, sizeof word);
            hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
            hash ^= hash >> 29;
        }
    return hash;
}

/* ---- computation ---- */

/* Register layout of a as in mma (mma.inc). */
static void left_of_registers(const struct warp *warp, const uint32_t *operands,
                              uint16_t out[ROWS * K]) {
    for (int i = 0; i < 4; i++) {
        const uint16_t *pairs = place_of(warp, operands[i]);
        for (int lane = 0; lane < LANES; lane++)
            memcpy(&out[(lane / 4 + i % 2 * 8) * K + lane % 4 * 2 + i / 2 * 8], &pairs[2 * lane],
                   4);
    }
}

/* The operands as matrices; `sparse_columns` selects the rows of b for the columns of a sparse a.
 */
struct factors {
    float left[ROWS][PRODUCT_DEPTH], right[2 * PRODUCT_DEPTH][PRODUCT_COLUMNS];
    uint8_t kept[ROWS][KEPT_MAX];
};

/* tf32 has the width of fp32 and is always K-major. */
static void spread_words(const struct product_form *form, const struct inputs *inputs,
                         struct factors *factors) {
    uint32_t a[ROWS * K / 2], b[PRODUCT_COLUMNS * K], digits = ~0x1fffu;
    uint32_t sign = form->a_negated != form->b_negated ? 1u << 31 : 0;
    int depth = depth_of(form) / 2;
    memcpy(a, inputs->a, sizeof a);
    memcpy(b, inputs->b, sizeof b);
    for (int i = 0; i < ROWS * K / 2; i++)
        factors->left[i / (K / 2)][i % (K / 2)] = bits_float((a[i] & digits) ^ sign);
    for (int k = 0; k < depth; k++)
        for (int column = 0; column < form->n; column++)
            factors->right[k][column] = bits_float(b[column * depth + k] & digits);
}

/* Converts operands from memory order to rows of the product. */
static void spread(const struct lanes *lanes, const struct product_form *form,
                   const struct inputs *inputs, struct factors *factors) {
    float a[ROWS * PRODUCT_DEPTH], b[PRODUCT_COLUMNS * 2 * PRODUCT_DEPTH];
    int b_k = form->sparsity.is_sparse ? 2 * form->k : form->k;
    if (form->left == MATRIX_TF32) {
        spread_words(form, inputs, factors);
        return;
    }
    bool a_mn_major = form->a_mn_major && !form->a_in_registers;
    lanes->widen(a, inputs->a, ROWS * form->k, form->left);
    lanes->widen(b, inputs->b, form->n * b_k, form->right);
    for (int row = 0; row < ROWS; row++)
        for (int k = 0; k < form->k; k++) {
            float value = a_mn_major ? a[k * ROWS + row] : a[row * form->k + k];
            factors->left[row][k] = form->a_negated != form->b_negated ? -value : value;
        }
    for (int k = 0; k < b_k; k++)
        for (int column = 0; column < form->n; column++)
            factors->right[k][column] =
                form->b_mn_major ? b[k * form->n + column] : b[column * b_k + k];
}

static void multiply(const struct lanes *lanes, const struct product_form *form,
                     const struct inputs *inputs, struct factors *factors,
                     float sums[ROWS][PRODUCT_COLUMNS]) {
    const struct matrix_shape shape = {.k = form->k,
                                       .left = form->left,
                                       .right = form->right,
                                       .half_accumulators = form->half_accumulators};
    spread(lanes, form, inputs, factors);
    if (form->sparsity.is_sparse)
        lanes->sparse_rows(&shape, form->n, sums, (const float(*)[PRODUCT_DEPTH])factors->left,
                           (const float(*)[PRODUCT_COLUMNS])factors->right,
                           (const uint8_t(*)[KEPT_MAX])factors->kept);
    else
        lanes->rows(&shape, form->n, sums, (const float(*)[PRODUCT_DEPTH])factors->left,
                    (const float(*)[PRODUCT_COLUMNS])factors->right);
}

/* `sums` holds the bits of 32-bit integers. */
static void multiply_whole(const struct product_form *form, const struct inputs *inputs,
                           const struct factors *factors, float sums[ROWS][PRODUCT_COLUMNS]) {
    int16_t left[ROWS][NUMBERS_MAX], right[NUMBERS_MAX], chosen[KEPT_MAX];
    const uint8_t *a = (const uint8_t *)inputs->a, *b = (const uint8_t *)inputs->b;
    bool is_sparse = form->sparsity.is_sparse;
    int depth = 2 * depth_of(form);
    for (int row = 0; row < ROWS; row++)
        unpack_numbers(left[row], a + row * 2 * K, 2 * K, form->a);
    for (int column = 0; column < form->n; column++) {
        unpack_numbers(right, b + column * depth, depth, form->b);
        for (int row = 0; row < ROWS; row++) {
            int64_t sum = (int32_t)float_bits(sums[row][column]);
            for (int k = 0; k < form->k && is_sparse; k++)
                chosen[k] = right[factors->kept[row][k]];
            sum += integer_dot_product(left[row], is_sparse ? chosen : right, form->k, false);
            sums[row][column] = bits_float((uint32_t)number_of_sum(sum, form->saturates));
        }
    }
}

/* A lane's adjacent pair of row g + 8 half, columns 8 i + 2 t: fp32 in registers 4 i + 2 half and
   the next, f16 in register 2 i + half. */
static void load_sums(const struct warp *warp, const struct instruction *instruction,
                      float sums[ROWS][PRODUCT_COLUMNS]) {
    const struct product_form *form = &instruction->as.product;
    const struct lanes *lanes = &warp->kernel->module->lanes;
    for (int i = 0; i < form->n / 4; i++)
        for (int lane = 0; lane < LANES; lane++) {
            float *pair = &sums[lane / 4 + i % 2 * 8][i / 2 * 8 + lane % 4 * 2];
            if (form->half_accumulators)
                lanes->widen(pair,
                             (const uint16_t *)place_of(warp, instruction->operands[i]) + 2 * lane,
                             2, MATRIX_F16);
            else
                for (int j = 0; j < 2; j++)
                    pair[j] =
                        ((const float *)place_of(warp, instruction->operands[2 * i + j]))[lane];
        }
}

static void store_sums(struct warp *warp, const struct instruction *instruction,
                       float sums[ROWS][PRODUCT_COLUMNS]) {
    const struct product_form *form = &instruction->as.product;
    for (int i = 0; i < form->n / 4; i++)
        for (int lane = 0; lane < LANES; lane++) {
            const float *pair = &sums[lane / 4 + i % 2 * 8][i / 2 * 8 + lane % 4 * 2];
            for (int j = 0; j < 2; j++)
                if (form->half_accumulators)
                    ((uint16_t *)place_of(warp, instruction->operands[i]))[2 * lane + j] =
                        sum_to_half(pair[j]);
                else
                    ((float *)place_of(warp, instruction->operands[2 * i + j]))[lane] = pair[j];
        }
}

static void remember(struct warp *warp, const struct product *product) {
    if (warp->product_count == warp->product_capacity) {
        int capacity = warp->product_capacity ? 2 * warp->product_capacity : 16;
        void *grown = realloc(warp->products, (size_t)capacity * sizeof *warp->products);
        if (!grown)
            BUG("out of memory for wgmma");
        warp->products = grown;
        warp->product_capacity = capacity;
    }
    warp->products[warp->product_count++] = *product;
}

/* operands: d, a (four registers, or a descriptor), b, predicate, metadata of a sparse a */
EXECUTE(product) {
    const struct product_form *form = &instruction->as.product;
    const struct lanes *lanes = &warp->kernel->module->lanes;
    struct block *block = warp->block;
    const uint32_t *a =
        instruction->operands + (form->half_accumulators ? form->n / 4 : form->n / 2);
    const uint32_t *b = a + (form->a_in_registers ? 4 : 1);
    struct inputs inputs;
    struct factors factors;
    float sums[ROWS][PRODUCT_COLUMNS];
    if (need_all(warp, instruction, mask) == ACTION_FAULT)
        return ACTION_FAULT;
    if (warp->index / WARPGROUP * WARPGROUP + WARPGROUP > block->warp_count)
        return fault_at(warp, instruction, 0, PTX_FAULT_MISUSE, 0,
                        "issued a wgmma in a warpgroup of %d warps: 4 are required",
                        block->warp_count % WARPGROUP);
    if (warp->product_count >= PENDING_MAX)
        return fault_at(warp, instruction, 0, PTX_FAULT_MISUSE, 0,
                        "issued more than %d wgmmas without a wait", PENDING_MAX);
    struct product product = {.instruction = instruction,
                              .group = warp->product_group,
                              .a = form->a_in_registers ? 0 : *(uint64_t *)place_of(warp, *a),
                              .b = *(uint64_t *)place_of(warp, *b)};
    if (block->microscope) {
        observe_uniform(warp, instruction, place_of(warp, *b), 8, mask, "a descriptor");
        if (!form->a_in_registers)
            observe_uniform(warp, instruction, place_of(warp, *a), 8, mask, "a descriptor");
    }
    if ((form->sparsity.is_sparse &&
         read_kept(warp, instruction, &form->sparsity, b[2], 2 * form->k, factors.kept) < 0) ||
        gather_inputs(warp, instruction, product.a, product.b, &inputs) < 0)
        return ACTION_FAULT;
    product.hash = hash_inputs(form, &inputs);
    remember(warp, &product);
    if (form->a_in_registers)
        left_of_registers(warp, a, inputs.a);
    if (block->cluster->float_mode != FLOAT_NEAREST)
        float_mode_set(block->cluster->float_mode = FLOAT_NEAREST);
    uint32_t adds = *(uint32_t *)place_of(warp, b[1]);
    if ((adds & 1) != form->predicate_negated)
        load_sums(warp, instruction, sums);
    else
        memset(sums, 0, sizeof sums);
    if (form->of_numbers)
        multiply_whole(form, &inputs, &factors, sums);
    else
        multiply(lanes, form, &inputs, &factors, sums);
    store_sums(warp, instruction, sums);
    block->counts->mma_operations += (uint64_t)(2 * ROWS * form->k * form->n);
    warp->chain.operations += 2 * ROWS * form->k * form->n;
    uint64_t bytes =
        (uint64_t)(form->n * depth_of(form) * 2 / WARPGROUP) + (form->a_in_registers ? 0 : 512);
    block->counts->shared_bytes += bytes;
    block->counts->shared_wavefronts += bytes / 128;
    return ACTION_NEXT;
}

EXECUTE(product_commit) {
    (void)instruction, (void)mask;
    if (chain_pace(warp))
        chain_commit_products(warp);
    warp->product_group++;
    block_event(warp->block);
    return ACTION_NEXT;
}

/* Completes the wgmmas of groups before `end`; fails if their operands changed after issue. */
static int retire(struct warp *warp, uint32_t end) {
    int remaining = 0;
    for (int i = 0; i < warp->product_count; i++) {
        const struct product *product = &warp->products[i];
        struct inputs inputs;
        if (product->group >= end) {
            warp->products[remaining++] = *product;
            continue;
        }
        if (gather_inputs(warp, product->instruction, product->a, product->b, &inputs) < 0)
            return -1;
        if (hash_inputs(&product->instruction->as.product, &inputs) == product->hash)
            continue;
        fault_at(warp, product->instruction, 0, PTX_FAULT_MISUSE, 0,
                 "issued a wgmma, and its shared memory operands were overwritten before its wait");
        return -1;
    }
    warp->product_count = remaining;
    return 0;
}

/* as.product.n: number of youngest groups that may stay pending. Before it waits for the others,
   all warps get a turn, so that premature writes to the operands happen and are detected. */
EXECUTE(product_wait) {
    uint32_t committed = warp->product_group, allowed = (uint32_t)instruction->as.product.n;
    uint32_t end = committed > allowed ? committed - allowed : 0;
    struct block *block = warp->block;
    struct warp *first = &block->warps[warp->index / WARPGROUP * WARPGROUP];
    int count =
        block->warp_count - first->index < WARPGROUP ? block->warp_count - first->index : WARPGROUP;
    if (warp->product_paused < end) {
        warp->product_paused = end;
        return warp_pause(warp, mask);
    }
    for (int i = 0; i < count; i++)
        if (first[i].live && first[i].product_group < end)
            return warp_await(warp, mask);
    for (int i = 0; i < count; i++)
        if (retire(&first[i], end) < 0)
            return ACTION_FAULT;
    if (chain_pace(warp) && end > 0)
        for (int i = 0; i < count; i++)
            chain_wait(warp, first[i].chain.products[(end - 1) % CHAIN_GROUPS] +
                                 chain_pace(warp)->matrix);
    return ACTION_NEXT;
}
