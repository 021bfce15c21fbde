// The last of several blocks to end what they share: it finds what the others wrote.
#ifndef EVOTILE_LIB_LAST
#define EVOTILE_LIB_LAST

#include "lib/types.cuh"

// For all threads of a block: whether `blocks` - 1 others have been here before, with the same
// counter in global memory, which is zero when the launch begins. Then all that these wrote to
// global memory before they came is seen. It is a barrier too.
DEVICE bool arrive_is_last_block(u32 *counter_gmem, u32 blocks) {
    __threadfence(); // what this thread wrote is seen before the block is counted,
    __syncthreads(); // and what the other threads wrote
    const bool last =
        __syncthreads_or(threadIdx.x == 0 && atomicAdd(counter_gmem, 1u) == blocks - 1);
    if (last)
        __threadfence(); // nothing is read from before the count
    return last;
}

#endif
