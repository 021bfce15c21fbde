// The consumer of a pipeline does not flip its parity: it goes on at once, and the producer's last copy is never waited for.
// run: 1 blocks of 64 threads, 0
// buffer: in 1024 input
// buffer: out 128 output
#include "tests/faults/across.cuh"
static __device__ void await_parity(unsigned long long *barrier, unsigned parity) {
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra again; }" : : "r"(at(barrier)), "r"(parity) : "memory"); // expect: before-wait
}
extern "C" __global__ void faulty(const unsigned *in, unsigned *out) {
    __shared__ alignas(16) unsigned smem[64];
    __shared__ unsigned long long full, empty;
    const unsigned t = threadIdx.x % 32;
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 1; mbarrier.init.shared.b64 [%1], 32;" : : "r"(at(&full)), "r"(at(&empty)) : "memory");
    __syncthreads();
    if (threadIdx.x == 0)
        for (unsigned round = 0; round < 3; round++) {
            if (round > 0)
                await_parity(&empty, (round - 1) % 2);
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" : : "r"(at(&full)) : "memory");
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" : : "r"(at(smem)), "l"(in + 64 * round), "r"(at(&full)) : "memory");
        }
    if (threadIdx.x >= 32) {
        unsigned sum = 0;
        for (unsigned round = 0; round < 3; round++) {
            await_parity(&full, 0);
            sum += smem[63 - t];
            asm volatile("mbarrier.arrive.shared.b64 _, [%0];" : : "r"(at(&empty)) : "memory");
        }
        out[t] = sum;
    }
}
