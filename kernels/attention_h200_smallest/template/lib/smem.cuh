// Addresses of shared memory.
#ifndef EVOTILE_LIB_SMEM
#define EVOTILE_LIB_SMEM

#include "lib/types.cuh"

// The 32-bit address of a place in the block's shared memory, as instructions take it.
DEVICE u32 smem_address(const void *place_smem) {
    return static_cast<u32>(__cvta_generic_to_shared(place_smem));
}

#endif
