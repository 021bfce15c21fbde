// The rows that a warp stores with stmatrix overlap: two lanes give the same address for different values.
// run: 1 blocks of 32 threads, 0
// buffer: out 128 output
#include "tests/faults/across.cuh"
extern "C" __global__ void faulty(unsigned *out) {
    __shared__ alignas(16) unsigned smem[32];
    const unsigned t = threadIdx.x;
    asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" : : "r"(at(&smem[t % 8 / 2 * 8])), "r"(t) : "memory"); // expect: race-in-block
    __syncwarp();
    out[t] = t % 8 < 4 ? smem[t / 8 * 8 + t % 4] : 0;
}
