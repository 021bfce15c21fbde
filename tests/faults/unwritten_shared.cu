// The loop that clears shared memory stops short: the last warp's words are never written.
// run: 1 blocks of 64 threads, 0
// buffer: x 256 output
extern "C" __global__ void faulty(float *x) {
    __shared__ float smem[64];
    int i = threadIdx.x;
    if (i < 48)
        smem[i] = i;
    __syncthreads();
    x[i] = smem[63 - i]; // expect: unwritten
}
