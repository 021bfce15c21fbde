// Two warps exchange values through volatile shared memory without a barrier.
// run: 1 blocks of 64 threads, 0
// buffer: x 256 output
extern "C" __global__ void faulty(int *x) {
    __shared__ volatile int smem[64];
    int i = threadIdx.x;
    smem[i] = i;
    x[i] = smem[63 - i]; // expect: race-in-block
}
