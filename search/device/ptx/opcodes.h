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
/* s8 or u8. */
bool is_byte(enum type type);

/* Bytes of the register that the operand names, at least `least`. */
int register_bytes_of(struct decoder *decoder, const struct operand *operand, int least);

#endif
