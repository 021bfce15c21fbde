// A thread initialises an mbarrier again while the other warp may still wait at it.
// run: 1 blocks of 64 threads, 0
// buffer: out 256 output
#include "tests/faults/across.cuh"
extern "C" __global__ void faulty(unsigned *out) {
    __shared__ unsigned long long barrier;
    const unsigned t = threadIdx.x;
    if (t == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 64;" : : "r"(at(&barrier)) : "memory");
    __syncthreads();
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" : : "r"(at(&barrier)) : "memory");
    await(&barrier);
    if (t == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 64;" : : "r"(at(&barrier)) : "memory"); // expect: race-in-block
    out[t] = t;
}
