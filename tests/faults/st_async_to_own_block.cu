// st.async to the block's own shared memory; the target must be in another block.
// run: 2 blocks of 32 threads, 0
// buffer: out 256 output
#include "tests/faults/across.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) faulty(unsigned *out) {
    __shared__ unsigned smem[32];
    __shared__ unsigned long long barrier;
    const unsigned t = threadIdx.x, own = 1 - begin(&barrier, sizeof smem);
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];"
                 :
                 : "r"(across(&smem[t], own)), "r"(t), "r"(across(&barrier, own)) // expect: misuse
                 : "memory");
    out[32 * blockIdx.x + t] = t;
    meet();
}
