// Only half of each warp reaches the barrier; the other half goes on to the next one.
// run: 1 blocks of 32 threads, 0
// buffer: x 128 output
extern "C" __global__ void faulty(float *x) {
    __shared__ float smem[32];
    int i = threadIdx.x;
    smem[i] = i;
    if (i < 16) {
        __syncthreads(); // expect: divergent-barrier
        x[i] = smem[i];
    }
    __syncthreads();
    x[i] += 1;
}
