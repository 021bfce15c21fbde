// One block stores where other blocks' bulk reductions add; the reductions do not race with each other.
// run: 3 blocks of 32 threads, 0
// buffer: out 128 output
#include "tests/faults/across.cuh"
extern "C" __global__ void faulty(unsigned *out) {
    __shared__ alignas(16) unsigned smem[32];
    const unsigned t = threadIdx.x;
    smem[t] = t;
    fence();
    __syncwarp();
    if (blockIdx.x == 2 && t == 5)
        out[t] = 1; // expect: race-between-blocks
    __syncwarp();
    if (t == 0) {
        reduce(out, smem, 128);
        asm volatile("cp.async.bulk.wait_group 0;" : : : "memory");
    }
}
