// Correct: the storing threads fence before the barrier, or the copying thread fences after it; data written by the
// copy engine needs no fence for another copy.
// run: 1 blocks of 64 threads, 0
// buffer: in 256 input
// buffer: out 512 output
#include "tests/faults/across.cuh"
extern "C" __global__ void faulty(const unsigned *in, unsigned *out) {
    __shared__ alignas(16) unsigned smem[2][64];
    __shared__ unsigned long long barrier;
    smem[0][threadIdx.x] = in[threadIdx.x];
    fence();
    smem[1][threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.proxy.async;" : : "r"(at(&barrier)) : "memory");
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256; cp.async.bulk.commit_group;" ::"l"(out), "r"(at(smem[0])) : "memory");
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256; cp.async.bulk.commit_group;" ::"l"(out + 64), "r"(at(smem[1])) : "memory");
        asm volatile("cp.async.bulk.wait_group 0;" : : : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256; "
                     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%1], [%2], 256, [%0];"
                     :
                     : "r"(at(&barrier)), "r"(at(smem[0])), "l"(in)
                     : "memory");
        await(&barrier);
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256; cp.async.bulk.commit_group;" ::"l"(out), "r"(at(smem[0])) : "memory");
        asm volatile("cp.async.bulk.wait_group 0;" : : : "memory");
    }
}
