// One thread reads what the other block stores with st.async without waiting for the mbarrier.
// run: 2 blocks of 64 threads, 0
// buffer: out 512 output
#include "tests/faults/across.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) faulty(unsigned *out) {
    __shared__ unsigned smem[64];
    __shared__ unsigned long long barrier;
    const unsigned t = threadIdx.x, other = begin(&barrier, sizeof smem);
    store(across(&smem[t], other), t, across(&barrier, other));
    meet(); // all have been issued
    if (t != 9)
        await(&barrier);
    out[64 * blockIdx.x + t] = smem[63 - t]; // expect: before-wait
    meet();
}
