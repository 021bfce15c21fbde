// The other block's asynchronous additions are not ordered after the store that initialises the sum.
// run: 2 blocks of 32 threads, 0
// buffer: out 8 output
#include "tests/faults/across.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) faulty(unsigned *out) {
    __shared__ unsigned sum;
    __shared__ unsigned long long barrier;
    const unsigned t = threadIdx.x, other = begin(&barrier, 128);
    if (t == 0)
        sum = 0; // expect: race-between-blocks race-in-block
    add(across(&sum, other), t, across(&barrier, other));
    await(&barrier);
    if (t == 0)
        out[blockIdx.x] = sum;
    meet();
}
