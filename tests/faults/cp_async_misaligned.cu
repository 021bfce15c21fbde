// cp.async of 4 bytes from an address that is a multiple of 2.
// run: 1 blocks of 32 threads, 0
// buffer: in 256 input
// buffer: out 128 output
#include "tests/faults/across.cuh"
extern "C" __global__ void faulty(const unsigned short *in, unsigned *out) {
    __shared__ unsigned smem[32];
    const unsigned t = threadIdx.x;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4; cp.async.wait_all;" : : "r"(at(&smem[t])), "l"(in + 2 * t + 1) : "memory"); // expect: misaligned
    out[t] = smem[t];
}
