/*
 * opcodes: the table that maps an opcode to its decode function and its execute function. A new
 * instruction needs a row there, a DECODE function in a decode_ file and an EXECUTE function in an
 * execute_ file; a new lane operation needs only a row in a .inc file.
 */
#ifndef EVOTILE_PTX_OPCODES_H
#define EVOTILE_PTX_OPCODES_H

#include "ptx/decode.h"

/* All instructions with the same first word. */
struct opcode {
    const char *name;
    int (*decode)(struct decoder *decoder, struct instruction *instruction);
    execute_function execute;
};

/* Decodes decoder->statement: takes its modifiers, reads its operands, completes the instruction,
   which has the opcode's execute function, and emits it or others. */
#define DECODE(name) int decode_##name(struct decoder *decoder, struct instruction *instruction)

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
DECODE(exit_or_trap);
DECODE(nanosleep);
DECODE(nop);
DECODE(fence);
DECODE(griddepcontrol);
DECODE(createpolicy);
DECODE(load);
DECODE(store);
DECODE(discard);
DECODE(atomic);
DECODE(cp);
DECODE(ldmatrix);
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
DECODE(wgmma);
DECODE(tensormap);
DECODE(multimem);

/* Returns the index-th row of the table, or NULL past the end. */
const struct opcode *opcode_at(int index);

/* The modifier of each enum reduction, for take_modifier_of. */
extern const char *const reduction_names[REDUCE_COUNT + 1];

/* cp.async.bulk and cp.reduce.async.bulk. */
int decode_bulk(struct decoder *decoder);
/* cp.async.mbarrier.arrive. */
int decode_cp_async_mbarrier_arrive(struct decoder *decoder);
/* barrier.cluster. */
int decode_cluster_barrier(struct decoder *decoder);
/* Decodes operand `index`, a vector of `count` matrix registers of `bytes` each. */
void decode_matrix_operand(struct decoder *decoder, int index, int count, int bytes, bool is_result,
                           uint32_t *places);
bool is_fp8(enum type type); /* e4m3 or e5m2 */
/* mma of integers, of doubles, and with a sparse a: called after the type of d has been taken. */
int decode_mma_int(struct decoder *decoder, struct sparsity sparsity);
int decode_mma_double(struct decoder *decoder);
int decode_mma_sparse(struct decoder *decoder, enum type d, struct sparsity sparsity);
/* mma.m8n8k4 of f16: called after the shape and the type of d have been taken. */
int decode_mma_m8n8k4(struct decoder *decoder, enum type d);
/* Emits an mma whose operands d, a, b and c have counts[] registers of `bytes` each; metadata:
   register of a sparse a, or NULL. */
int emit_mma(struct decoder *decoder, const struct instruction *instruction, const int counts[4],
             int bytes, const uint32_t *metadata);
/* Decodes the metadata operand of a sparse a with `k` columns, and the selector after it. Fills
   sparsity->first; the other fields must be set. */
uint32_t decode_sparsity_metadata(struct decoder *decoder, int index, int k,
                                  struct sparsity *sparsity);
/* Takes the next of s8, u8, s4, u4 and b1; false if there is none. */
bool take_integer_format(struct decoder *decoder, struct integer_format *format);

/* Returns the width of the register that the operand names, at least `least`. */
int operand_register_bytes(struct decoder *decoder, const struct operand *operand, int least);

#endif
