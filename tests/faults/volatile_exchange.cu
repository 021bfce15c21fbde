// Lanes exchange values through volatile shared memory, as before sm_70, without __syncwarp, beside a loop that loads.
// run: 1 blocks of 32 threads, 0
// buffer: x 128 output
// buffer: y 4096 input
// value: 32
extern "C" __global__ void faulty(int *x, const int *y, int n) {
    __shared__ volatile int smem[32];
    int i = threadIdx.x, sum = 0;
#pragma unroll 1
    for (int j = 0; j < n; ++j)
        sum += y[j * 32 + i];
    smem[i] = i;
    x[i] = sum + smem[i ^ 1]; // expect: race-in-block
}
