// A grid barrier precedes the reads of the neighbours' words, but none precedes the next
// writes.
// run: 5 blocks of 64 threads, 0
// cooperative
// buffer: work 1280 empty
// buffer: x 1280 output
#include <cooperative_groups.h>
extern "C" __global__ void faulty(float *work, float *x) {
    auto grid = cooperative_groups::this_grid();
    int i = grid.thread_rank();
    for (int step = 0; step < 3; step++) {
        work[i] = i + step; // expect: race-between-blocks
        grid.sync();
        x[i] += work[(i + 64) % 320];
    }
}
