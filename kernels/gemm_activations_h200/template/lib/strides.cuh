// Strides of a tensor [batches, heads, rows, columns] whose extents are stored in any order.
#ifndef EVOTILE_LIB_STRIDES
#define EVOTILE_LIB_STRIDES

#include "lib/integer.cuh"
#include "lib/types.cuh"

// Strides between batches and heads in units of 8 16-bit elements, since all of them begin at
// multiples of 16 bytes; stride between rows in elements. (32-bit values: address arithmetic takes
// half the instructions.)
struct strides {
    u32 batch, head;
    int row;

    // Offset of a head, in elements.
    DEVICE u64 to_head(u32 batch_number, u32 head_number) const {
        return 8 * (multiply_wide(batch_number, batch) + multiply_wide(head_number, head));
    }
};

#endif
