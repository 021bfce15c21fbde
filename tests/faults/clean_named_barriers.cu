// Correct: a barrier for each pair of warps, one pair's again by the other after a barrier of all, and a pair that
// arrives while the other waits.
// run: 1 blocks of 128 threads, 0
// buffer: x 512 output
extern "C" __global__ void faulty(int *x) {
    __shared__ int smem[128];
    int i = threadIdx.x, pair = i / 64;
    smem[i] = i;
    asm volatile("bar.sync %0, 64;" : : "r"(1 + pair) : "memory");
    int sum = smem[i ^ 32];
    __syncthreads();
    smem[i] = sum;
    asm volatile("bar.sync %0, 64;" : : "r"(2 - pair) : "memory");
    sum += smem[i ^ 32];
    if (pair == 0)
        asm volatile("bar.arrive 3, 128;" : : : "memory");
    else
        asm volatile("bar.sync 3, 128;" : : : "memory");
    x[i] = sum;
}
