// One warp reads what another one wrote without a barrier between.
// run: 1 blocks of 64 threads, 0
// buffer: x 256 output
extern "C" __global__ void faulty(float *x) {
    __shared__ float smem[64];
    int i = threadIdx.x;
    smem[i] = i;
    if (i >= 64)
        __syncthreads();
    x[i] = smem[63 - i]; // expect: race-in-block
}
