// A second warp issues a copy that an mbarrier tracks, without a barrier after the mbarrier's initialisation.
// run: 1 blocks of 64 threads, 0
// buffer: in 256 input
// buffer: out 256 output
#include "tests/faults/across.cuh"
extern "C" __global__ void faulty(const unsigned *in, unsigned *out) {
    __shared__ alignas(16) unsigned smem[64];
    __shared__ unsigned long long barrier;
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 1; mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" : : "r"(at(&barrier)) : "memory");
    if (threadIdx.x == 32)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" : : "r"(at(smem)), "l"(in), "r"(at(&barrier)) : "memory"); // expect: race-in-block
    __syncthreads();
    await(&barrier);
    out[threadIdx.x] = smem[63 - threadIdx.x];
}
