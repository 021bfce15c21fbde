// An mbarrier is used after mbarrier.inval.
// run: 1 blocks of 32 threads, 0
// buffer: out 128 output
#include "tests/faults/across.cuh"
extern "C" __global__ void faulty(unsigned *out) {
    __shared__ unsigned long long barrier;
    const unsigned t = threadIdx.x;
    if (t == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 32;" : : "r"(at(&barrier)) : "memory");
    __syncwarp();
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" : : "r"(at(&barrier)) : "memory");
    await(&barrier);
    __syncwarp();
    if (t == 0)
        asm volatile("mbarrier.inval.shared.b64 [%0];" : : "r"(at(&barrier)) : "memory");
    __syncwarp();
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" : : "r"(at(&barrier)) : "memory"); // expect: misuse
    out[t] = t;
}
