// A multicast names the mbarrier of the other block too, which may not have initialised it yet.
// run: 2 blocks of 32 threads, 0
// buffer: in 128 input
// buffer: out 256 output
#include "tests/faults/across.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) faulty(const unsigned *in, unsigned *out) {
    __shared__ alignas(16) unsigned smem[32];
    __shared__ unsigned long long barrier;
    const unsigned t = threadIdx.x;
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (t == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.mbarrier_init.release.cluster; mbarrier.arrive.expect_tx.shared.b64 _, [%0], 128;" : : "r"(at(&barrier)) : "memory");
    __syncwarp();
    if (t == 0 && rank == 0)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 128, [%2], %3;" : : "r"(at(smem)), "l"(in), "r"(at(&barrier)), "h"((short)3) : "memory"); // expect: race-between-blocks
    await(&barrier);
    out[32 * blockIdx.x + t] = smem[t];
    meet();
}
