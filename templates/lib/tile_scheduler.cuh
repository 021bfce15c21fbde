// A queue of numbered units of work that the blocks of one launch share: a counter in global
// memory, zero when the launch begins. A block starts with the unit of its own number and draws the
// others.
#ifndef EVOTILE_LIB_QUEUE
#define EVOTILE_LIB_QUEUE

#include "lib/types.cuh"

struct tile_scheduler {
    u32 *counter_gmem;
    u32 *slots_smem; // two words of the block's own
    u32 work_index;  // of the block's present unit
    u32 round, next_index;

    DEVICE tile_scheduler(u32 *counter_gmem, u32 *slots_smem)
        : counter_gmem(counter_gmem), slots_smem(slots_smem), work_index(blockIdx.x), round(0),
          next_index(0) {
    }

    // Draws the next number; the answer comes while the block works on its present unit.
    DEVICE void prefetch_next_work() {
        if (threadIdx.x == 0)
            next_index = gridDim.x + atomicAdd(counter_gmem, 1u);
    }

    // Makes the drawn number the present one, for all threads; false if there are no more than
    // `units`. It is also a barrier: when it returns, every thread has done with the unit before.
    DEVICE bool fetch_next_work(u32 work_units) {
        u32 *slot_smem = slots_smem + round++ % 2;
        if (threadIdx.x == 0)
            *slot_smem = next_index;
        __syncthreads();         // the ticket is written; that of the unit before has been read
        work_index = *slot_smem; // written again two calls on, past the barrier of the next
        return work_index < work_units;
    }
};

#endif
