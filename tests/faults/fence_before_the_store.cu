// The fence does not cover a store after it: the second of two rounds lacks a fence.
// run: 1 blocks of 64 threads, 0
// buffer: out 256 output
#include "tests/faults/across.cuh"
extern "C" __global__ void faulty(unsigned *out) {
    __shared__ alignas(16) unsigned smem[2][64];
    smem[0][threadIdx.x] = threadIdx.x;
    fence();
    smem[1][threadIdx.x] = 2 * threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256; cp.async.bulk.commit_group;" ::"l"(out), "r"(at(smem[0])) : "memory");
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256; cp.async.bulk.commit_group;" ::"l"(out), "r"(at(smem[1])) : "memory"); // expect: missing-proxy-fence
        asm volatile("cp.async.bulk.wait_group 0;" : : : "memory");
    }
}
