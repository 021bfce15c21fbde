// A hand-written grid barrier waits for all blocks but one.
// run: 4 blocks of 32 threads, 0
// cooperative
// buffer: count 4 output
// buffer: work 512 empty
// buffer: x 512 output
extern "C" __global__ void faulty(unsigned *count, float *work, float *x) {
    int i = blockIdx.x * 32 + threadIdx.x;
    work[i] = i; // expect: race-between-blocks
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count, 1);
        while (*(volatile unsigned *)count < gridDim.x - 1)
            ;
        __threadfence();
    }
    __syncthreads();
    x[i] = work[(i + 32) % 128];
}
