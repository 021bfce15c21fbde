// A hand-written grid barrier: the blocks arrive without a fence.
// run: 4 blocks of 32 threads, 0
// cooperative
// buffer: count 4 output
// buffer: work 512 empty
// buffer: x 512 output
extern "C" __global__ void faulty(unsigned *count, float *work, float *x) {
    int i = blockIdx.x * 32 + threadIdx.x;
    work[i] = i;
    __syncwarp();
    if (threadIdx.x == 0) {
        atomicAdd(count, 1);
        while (*(volatile unsigned *)count < gridDim.x)
            ;
    }
    __syncwarp();
    x[i] = work[(i + 32) % 128]; // expect: race-between-blocks
}
