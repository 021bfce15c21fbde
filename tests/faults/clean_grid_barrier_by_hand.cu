// Correct: a hand-written grid barrier with fences, used twice.
// run: 4 blocks of 32 threads, 0
// cooperative
// buffer: count 4 output
// buffer: work 512 empty
// buffer: x 512 output
static __device__ void meet(unsigned *count, unsigned expected) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count, 1);
        while (*(volatile unsigned *)count < expected)
            ;
        __threadfence();
    }
    __syncthreads();
}
extern "C" __global__ void faulty(unsigned *count, float *work, float *x) {
    int i = blockIdx.x * 32 + threadIdx.x;
    work[i] = i;
    meet(count, gridDim.x);
    x[i] = work[(i + 32) % 128];
    meet(count, 2 * gridDim.x);
    work[i] = x[i];
}
