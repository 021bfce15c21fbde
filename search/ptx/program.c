/* Properties of instruction forms that the decoder and the executor share. */
#include "ptx/program.h"

bool bulk_reduction_supported(enum reduction reduction, enum type type, bool in_shared) {
    enum {
        ADDS = 1 << REDUCE_ADD,
        COMPARES = 1 << REDUCE_MIN | 1 << REDUCE_MAX,
        COUNTS = 1 << REDUCE_INC | 1 << REDUCE_DEC,
        JOINS = 1 << REDUCE_AND | 1 << REDUCE_OR | 1 << REDUCE_XOR,
    };
    static const struct {
        unsigned in_shared, in_global;
    } known[TYPE_COUNT] = {
        [TYPE_U32] = {ADDS | COMPARES | COUNTS, ADDS | COMPARES | COUNTS},
        [TYPE_S32] = {ADDS | COMPARES, ADDS | COMPARES},
        [TYPE_U64] = {ADDS, ADDS | COMPARES},
        [TYPE_S64] = {0, COMPARES},
        [TYPE_B32] = {JOINS, JOINS},
        [TYPE_B64] = {0, JOINS},
        [TYPE_F16] = {0, ADDS | COMPARES},
        [TYPE_BF16] = {0, ADDS | COMPARES},
        [TYPE_F32] = {0, ADDS},
        [TYPE_F64] = {0, ADDS},
    };
    return (in_shared ? known[type].in_shared : known[type].in_global) >> reduction & 1;
}

int wmma_fragment_registers(const struct wmma_form *form, enum wmma_part part, enum type type) {
    int elements = part == WMMA_A   ? form->m * form->k
                   : part == WMMA_B ? form->k * form->n
                                    : form->m * form->n;
    if (type == TYPE_F16 && part != WMMA_ACCUMULATOR)
        return 8;
    return elements * type_bytes(type) / (type == TYPE_F64 ? 8 : 4) / LANES;
}
