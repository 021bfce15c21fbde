// The copy engine reads what threads stored to shared memory: a barrier without a proxy fence is not enough.
// run: 1 blocks of 64 threads, 0
// buffer: out 256 output
#include "tests/faults/across.cuh"
extern "C" __global__ void faulty(unsigned *out) {
    __shared__ alignas(16) unsigned smem[64];
    smem[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256; cp.async.bulk.commit_group;" ::"l"(out), "r"(at(smem)) : "memory"); // expect: missing-proxy-fence
        asm volatile("cp.async.bulk.wait_group 0;" : : : "memory");
    }
}
