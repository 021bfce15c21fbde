// The thread that initialises an mbarrier arrives itself, but the other warp waits without a barrier after the
// initialisation.
// run: 1 blocks of 64 threads, 0
// buffer: out 256 output
#include "tests/faults/across.cuh"
extern "C" __global__ void faulty(float *out) {
    __shared__ unsigned long long barrier;
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 1; mbarrier.arrive.shared.b64 _, [%0];" : : "r"(at(&barrier)) : "memory");
    __syncwarp();
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra again; }" : : "r"(at(&barrier)) : "memory"); // expect: race-in-block
    out[threadIdx.x] = 1;
}
