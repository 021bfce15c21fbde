// Correct: a block of 16 threads, all of which read what one wrote, and meet before it writes again.
// run: 1 blocks of 16 threads, 0
// buffer: x 64 output
extern "C" __global__ void faulty(float *x) {
    __shared__ float smem[16];
    int i = threadIdx.x;
    float sum = 0;
#pragma unroll 1
    for (int turn = 0; turn < 3; ++turn) {
        smem[i] = i + turn;
        __syncthreads();
        sum += smem[turn];
        __syncthreads();
    }
    x[i] = sum;
}
