// Detects the last of several blocks that finish a shared piece of work; it may then read what the
// others wrote (the threadFenceReduction pattern).
#ifndef EVOTILE_LIB_LAST_BLOCK
#define EVOTILE_LIB_LAST_BLOCK

#include "lib/types.cuh"

// Called by all threads of a block: true if `blocks` - 1 other blocks have called it with the same
// counter in global memory, which must be zero when the launch begins. Everything those blocks
// wrote to global memory before their calls is then visible. Also a block barrier.
DEVICE bool arrive_is_last_block(u32 *counter_gmem, u32 blocks) {
    __threadfence(); // this thread's writes are visible before the block is counted,
    __syncthreads(); // and those of the other threads
    const bool last =
        __syncthreads_or(threadIdx.x == 0 && atomicAdd(counter_gmem, 1u) == blocks - 1);
    if (last)
        __threadfence(); // no later read is moved before the count
    return last;
}

#endif
