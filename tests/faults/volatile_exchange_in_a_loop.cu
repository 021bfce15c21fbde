// Lanes exchange values through volatile shared memory without __syncwarp, in a loop that stores before it loads.
// run: 1 blocks of 32 threads, 0
// buffer: x 128 output
extern "C" __global__ void faulty(int *x) {
    __shared__ volatile int smem[32];
    int i = threadIdx.x, sum = i;
#pragma unroll 1
    for (int distance = 16; distance > 0; distance /= 2) {
        smem[i] = sum;
        sum += smem[i ^ distance]; // expect: race-in-block
    }
    x[i] = sum;
}
