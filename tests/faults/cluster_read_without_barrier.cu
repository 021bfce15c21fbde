// A block reads what the other block of its cluster stored, without a cluster barrier between the two.
// run: 2 blocks of 32 threads, 0
// buffer: out 256 output
#include "tests/faults/across.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) faulty(unsigned *out) {
    __shared__ unsigned smem[32];
    const unsigned t = threadIdx.x;
    unsigned rank, value;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    meet();
    smem[t] = t;
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(across(&smem[t], 1 - rank)) : "memory"); // expect: race-between-blocks
    out[32 * blockIdx.x + t] = value;
    meet();
}
