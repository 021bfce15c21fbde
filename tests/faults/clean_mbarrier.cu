// Correct: one thread initialises an mbarrier, a barrier follows, every thread arrives and waits twice.
// run: 1 blocks of 64 threads, 0
// buffer: out 256 output
#include "tests/faults/across.cuh"
extern "C" __global__ void faulty(unsigned *out) {
    __shared__ unsigned long long barrier;
    __shared__ unsigned values[64];
    const unsigned t = threadIdx.x;
    if (t == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 64;" : : "r"(at(&barrier)) : "memory");
    __syncthreads();
    for (unsigned phase = 0; phase < 4; phase++) {
        if (phase % 2 == 0)
            values[t] = t;
        else
            out[t] = values[63 - t];
        asm volatile("mbarrier.arrive.shared.b64 _, [%0];" : : "r"(at(&barrier)) : "memory");
        asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra again; }" : : "r"(at(&barrier)), "r"(phase % 2) : "memory");
    }
}
