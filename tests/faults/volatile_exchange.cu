// Lanes exchange values through volatile shared memory, as before sm_70, without __syncwarp.
// run: 1 blocks of 32 threads, 0
// buffer: x 128 output
extern "C" __global__ void faulty(int *x) {
    __shared__ volatile int smem[32];
    int i = threadIdx.x;
    smem[i] = i;
    x[i] = smem[i ^ 1]; // expect: race-in-block
}
