// The target of a bulk copy from the other block of the cluster is read before the copy has completed.
// run: 2 blocks of 32 threads, 0
// buffer: out 256 output
#include "tests/faults/across.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) faulty(unsigned *out) {
    __shared__ alignas(16) unsigned from[32], smem[32];
    __shared__ unsigned long long barrier;
    const unsigned t = threadIdx.x;
    from[t] = t;
    fence();
    const unsigned other = begin(&barrier, sizeof smem);
    if (t == 0)
        send(across(smem, other), from, sizeof smem, across(&barrier, other));
    meet();
    const unsigned early = smem[31 - t]; // expect: before-wait
    await(&barrier);
    out[32 * blockIdx.x + t] = early + smem[t];
    meet();
}
