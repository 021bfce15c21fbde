// The lanes of a warp exchange values through shared memory as if they ran in lockstep.
// run: 1 blocks of 32 threads, 0
// buffer: x 128 output
extern "C" __global__ void faulty(float *x) {
    __shared__ float smem[32];
    int i = threadIdx.x;
    smem[i] = i;
    x[i] = smem[31 - i]; // expect: race-in-block
}
