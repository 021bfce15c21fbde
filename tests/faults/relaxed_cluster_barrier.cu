// A relaxed arrival at the cluster barrier does not order the store before it.
// run: 2 blocks of 32 threads, 0
// buffer: out 256 output
#include "tests/faults/across.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) faulty(unsigned *out) {
    __shared__ unsigned smem[32];
    const unsigned t = threadIdx.x;
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    meet();
    asm volatile("st.shared::cluster.u32 [%0], %1;" : : "r"(across(&smem[t], 1 - rank)), "r"(t) : "memory");
    asm volatile("barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;" : : : "memory");
    out[32 * blockIdx.x + t] = smem[t]; // expect: race-between-blocks
    meet();
}
