// A block stores to the other block of its cluster, which may have exited.
// run: 2 blocks of 32 threads, 0
// buffer: out 256 output
#include "tests/faults/across.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) faulty(unsigned *out) {
    __shared__ unsigned smem[32];
    const unsigned t = threadIdx.x;
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    meet();
    if (rank == 0)
        asm volatile("st.shared::cluster.u32 [%0], %1;" : : "r"(across(&smem[t], 1)), "r"(t) : "memory"); // expect: race-between-blocks
    out[32 * blockIdx.x + t] = t;
}
