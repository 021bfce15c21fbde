// Where the heads and rows of a tensor lie, [batches, heads, rows, columns] in whichever order.
#ifndef EVOTILE_LIB_STRIDES
#define EVOTILE_LIB_STRIDES

#include "lib/integer.cuh"
#include "lib/types.cuh"

// How far apart batches and heads begin, in units of 8 elements of 16 bits: all begin at multiples
// of 16 bytes; and rows, in elements. (In 32 bits: an address takes half the instructions.)
struct strides {
    u32 batch, head;
    int row;

    // Where a head begins, in elements.
    DEVICE u64 to_head(u32 batch_number, u32 head_number) const {
        return 8 * (multiply_wide(batch_number, batch) + multiply_wide(head_number, head));
    }
};

#endif
