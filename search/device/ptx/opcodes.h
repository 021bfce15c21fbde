/*
 * opcodes: the table of opcodes, name -> how to decode it -> how to execute it. A new instruction
 * is a row there, a DECODE function in one of the decode_ files and an EXECUTE function in one of
 * the execute_ files; a new operation on lanes is a row in one of the .inc files and nothing else.
 */
#ifndef EVOTILE_DEVICE_PTX_OPCODES_H
#define EVOTILE_DEVICE_PTX_OPCODES_H

#include "device/ptx/decode.h"

/* All instructions that begin with a word. `variant` tells those apart that share a function. */
struct opcode {
    const char *name;
    int (*decode)(struct decoder *decoder, const struct opcode *opcode);
    execute_function execute;
    int variant;
};

/* Decodes decoder->statement: takes its modifiers, reads its operands, emits instructions. */
#define DECODE(name) int decode_##name(struct decoder *decoder, const struct opcode *opcode)

DECODE(arithmetic);
DECODE(carry);
DECODE(setp);
DECODE(set);
DECODE(mov);
DECODE(cvt);
DECODE(cvta);
DECODE(isspacep);
DECODE(bra);
DECODE(brx);
DECODE(call);
DECODE(ret);
DECODE(plain);
DECODE(yield);
DECODE(ignored);
DECODE(fence);
DECODE(dependency);
DECODE(policy);
DECODE(load);
DECODE(store);
DECODE(atomic);
DECODE(cp);
DECODE(matrix_transfer);
DECODE(movmatrix);
DECODE(mma);
DECODE(wmma);
DECODE(shfl);
DECODE(vote);
DECODE(activemask);
DECODE(match);
DECODE(redux);
DECODE(elect);
DECODE(barrier);
DECODE(mbarrier);
DECODE(mapa);
DECODE(getctarank);
DECODE(wgmma);
DECODE(tensormap);
DECODE(multimem);

/* The rows of the table, in its order; NULL beyond the last. */
const struct opcode *opcode_at(int index);

static inline struct instruction instruction_of(const struct opcode *opcode) {
    return (struct instruction){.execute = opcode->execute, .float_mode = FLOAT_ANY};
}

/* The words of enum reduction, for take_one_of. */
extern const char *const reduction_words[REDUCE_COUNT + 1];

/* The forms of cp.async.bulk. */
int decode_bulk(struct decoder *decoder);
/* cp.async.mbarrier.arrive. */
int decode_copy_arrival(struct decoder *decoder);
/* barrier.cluster. */
int decode_cluster_barrier(struct decoder *decoder);
/* The registers of a matrix, `bytes` each. */
int matrix_operand(struct decoder *decoder, int index, int count, int bytes, bool is_result,
                   uint32_t *places);
bool is_fp8(enum type type); /* e4m3 or e5m2 */
/* mma of whole numbers, of doubles, and of a sparse a: what follows the type of d. */
int decode_numbers_product(struct decoder *decoder, struct sparsity sparsity);
int decode_doubles_product(struct decoder *decoder);
int decode_sparse_product(struct decoder *decoder, enum type d, struct sparsity sparsity);
/* mma.m8n8k4 of f16: all behind the shape and the type of d. */
int decode_quarters_product(struct decoder *decoder, enum type d);
/* An mma whose operands d, a, b and c have so many registers of `bytes` each; metadata: of a sparse
   a, or NULL. */
int emit_product(struct decoder *decoder, const struct instruction *instruction,
                 const int counts[4], int bytes, const uint32_t *metadata);
/* The metadata of a sparse a with `k` columns, and behind it the selector. All of `sparsity` is
   known but `first`. */
int sparse_operands(struct decoder *decoder, int index, int k, struct sparsity *sparsity,
                    uint32_t *place);
/* Takes the first of s8, u8, s4, u4 and b1 that is not taken; false if there is none. */
bool take_number_format(struct decoder *decoder, struct number_format *format);

/* Bytes of the register that the operand names, at least `least`. */
int register_bytes_of(struct decoder *decoder, const struct operand *operand, int least);

#endif
