// The mbarrier expects 128 of the 256 bytes that a bulk copy brings.
// run: 1 blocks of 64 threads, 0
// buffer: in 512 input
// buffer: out 256 output
#include "tests/faults/across.cuh"
extern "C" __global__ void faulty(const unsigned *in, unsigned *out) {
    __shared__ alignas(16) unsigned smem[64];
    __shared__ unsigned long long barrier;
    const unsigned t = threadIdx.x;
    if (t == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" : : "r"(at(&barrier)) : "memory");
    __syncthreads();
    unsigned sum = 0;
    for (unsigned round = 0; round < 1; round++) {
        if (t == 0) {
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 128;" : : "r"(at(&barrier)) : "memory");
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" : : "r"(at(smem)), "l"(in + 64 * round), "r"(at(&barrier)) : "memory");
        }
        asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra again; }" : : "r"(at(&barrier)), "r"(0) : "memory"); // expect: deadlock
        sum += smem[63 - t];
        __syncthreads();
    }
    out[t] = sum;
}
