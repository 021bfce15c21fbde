// A block of 16 threads, all of which read what one wrote; it writes again while others may still read.
// run: 1 blocks of 16 threads, 0
// buffer: x 64 output
extern "C" __global__ void faulty(float *x) {
    __shared__ float smem[16];
    int i = threadIdx.x;
    float sum = 0;
#pragma unroll 1
    for (int turn = 0; turn < 3; ++turn) {
        smem[i] = i + turn; // expect: race-in-block
        __syncthreads();
        sum += smem[turn];
    }
    x[i] = sum;
}
