// Lanes exchange values through volatile shared memory without __syncwarp, on the line of a loop that waits.
// run: 1 blocks of 64 threads, 0
// buffer: x 256 output
extern "C" __global__ void faulty(int *x) {
    __shared__ volatile int smem[64], flag;
    int i = threadIdx.x;
    if (i == 0)
        flag = 0;
    __syncthreads();
    if (i == 32)
        flag = 1;
    while (!flag) ; smem[i] = i; x[i] = smem[i ^ 1]; // expect: race-in-block
}
