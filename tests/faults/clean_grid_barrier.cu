// Correct: grid barriers separate writers and readers.
// run: 5 blocks of 64 threads, 0
// cooperative
// buffer: work 1280 empty
// buffer: x 1280 output
#include <cooperative_groups.h>
extern "C" __global__ void faulty(float *work, float *x) {
    auto grid = cooperative_groups::this_grid();
    int i = grid.thread_rank();
    for (int step = 0; step < 3; step++) {
        work[i] = i + step;
        grid.sync();
        x[i] += work[(i + 64) % 320] + work[(i + 1) % 320];
        grid.sync();
    }
}
