// The next round overwrites shared memory that a bulk reduction still reads: two groups are in flight, and the wait
// covers only the older one.
// run: 1 blocks of 32 threads, 0
// buffer: out 128 output
#include "tests/faults/across.cuh"
extern "C" __global__ void faulty(unsigned *out) {
    __shared__ alignas(16) unsigned smem[2][32];
    const unsigned t = threadIdx.x;
    for (unsigned round = 0; round < 3; round++) {
        smem[round & 1][t] = round + t;
        fence();
        __syncwarp();
        if (t == 0) {
            reduce(out, smem[round & 1], 128);
            asm volatile("cp.async.bulk.wait_group.read 1;" : : : "memory");
        }
        __syncwarp();
    }
    smem[0][t] = 0; // expect: before-wait
    if (t == 0)
        asm volatile("cp.async.bulk.wait_group 0;" : : : "memory");
}
