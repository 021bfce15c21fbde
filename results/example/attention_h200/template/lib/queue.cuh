// A queue of numbered units of work that the blocks of one launch share: a counter in global
// memory, zero when the launch begins. A block starts with the unit of its own number and draws the
// others.
#ifndef EVOTILE_LIB_QUEUE
#define EVOTILE_LIB_QUEUE

#include "lib/types.cuh"

struct queue {
    u32 *counter_gmem;
    u32 *tickets_smem; // two words of the block's own
    u32 number;        // of the block's present unit
    u32 turn, drawn;

    DEVICE queue(u32 *counter_gmem, u32 *tickets_smem)
        : counter_gmem(counter_gmem), tickets_smem(tickets_smem), number(blockIdx.x), turn(0),
          drawn(0) {
    }

    // Draws the next number; the answer comes while the block works on its present unit.
    DEVICE void draw() {
        if (threadIdx.x == 0)
            drawn = gridDim.x + atomicAdd(counter_gmem, 1u);
    }

    // Makes the drawn number the present one, for all threads; false if there are no more than
    // `units`. It is also a barrier: when it returns, every thread has done with the unit before.
    DEVICE bool next(u32 units) {
        u32 *ticket_smem = tickets_smem + turn++ % 2;
        if (threadIdx.x == 0)
            *ticket_smem = drawn;
        __syncthreads();       // the ticket is written; that of the unit before has been read
        number = *ticket_smem; // written again two calls on, past the barrier of the next
        return number < units;
    }
};

#endif
