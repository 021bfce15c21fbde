// The target of a bulk reduction is read when only its source has been read (wait_group.read).
// run: 1 blocks of 32 threads, 0
// buffer: out 128 output
// buffer: copy 128 output
#include "tests/faults/across.cuh"
extern "C" __global__ void faulty(unsigned *out, unsigned *copy) {
    __shared__ alignas(16) unsigned smem[32];
    const unsigned t = threadIdx.x;
    smem[t] = t;
    fence();
    __syncwarp();
    if (t == 0) {
        reduce(out, smem, 128);
        asm volatile("cp.async.bulk.wait_group.read 0;" : : : "memory");
    }
    __syncwarp();
    smem[t] = 0;
    copy[t] = out[t]; // expect: before-wait
    if (t == 0)
        asm volatile("cp.async.bulk.wait_group 0;" : : : "memory");
    __syncwarp();
    out[t] += smem[t];
}
