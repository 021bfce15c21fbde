// Threads of a block exchange values through global memory without a barrier.
// run: 1 blocks of 64 threads, 0
// buffer: work 256 empty
// buffer: x 256 output
extern "C" __global__ void faulty(float *work, float *x) {
    int i = threadIdx.x;
    work[i] = i;
    __syncwarp();
    x[i] = work[63 - i]; // expect: race-in-block
}
