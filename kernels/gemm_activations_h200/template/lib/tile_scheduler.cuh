// Dynamic tile scheduler for persistent kernels: the blocks of a launch share a counter in global
// memory, which is zero when the launch begins. A block starts with the work unit of its own block
// index and fetches further ones from the counter.
#ifndef EVOTILE_LIB_TILE_SCHEDULER
#define EVOTILE_LIB_TILE_SCHEDULER

#include "lib/types.cuh"

struct tile_scheduler {
    u32 *counter_gmem;
    u32 *slots_smem; // two words in shared memory
    u32 work_index;  // of the block's current work unit
    u32 round, next_index;

    DEVICE tile_scheduler(u32 *counter_gmem, u32 *slots_smem)
        : counter_gmem(counter_gmem), slots_smem(slots_smem), work_index(blockIdx.x), round(0),
          next_index(0) {
    }

    // Fetches the next index from the counter; the atomic's latency overlaps the current work unit.
    DEVICE void prefetch_next_work() {
        if (threadIdx.x == 0)
            next_index = gridDim.x + atomicAdd(counter_gmem, 1u);
    }

    // Makes the fetched index current for all threads; false if it is not below `work_units`. Also
    // a block barrier: when it returns, every thread has finished the previous work unit.
    DEVICE bool fetch_next_work(u32 work_units) {
        u32 *slot_smem = slots_smem + round++ % 2;
        if (threadIdx.x == 0)
            *slot_smem = next_index;
        __syncthreads();         // the slot is written; the other one has been read
        work_index = *slot_smem; // rewritten two calls later, after the next call's barrier
        return work_index < work_units;
    }
};

#endif
