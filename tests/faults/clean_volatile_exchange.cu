// Correct: volatile shared memory with __syncwarp and __syncthreads between the two sides.
// run: 1 blocks of 64 threads, 0
// buffer: x 256 output
extern "C" __global__ void faulty(int *x) {
    __shared__ volatile int smem[64];
    int i = threadIdx.x;
    smem[i] = i;
    __syncwarp();
    int sum = smem[i ^ 1];
    __syncthreads();
    x[i] = sum + smem[63 - i];
}
