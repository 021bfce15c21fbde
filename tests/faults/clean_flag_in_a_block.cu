// Correct: the same flag with a fence of block scope before and after it, and one by volatile accesses.
// run: 1 blocks of 64 threads, 0
// buffer: x 8 output
extern "C" __global__ void faulty(int *x) {
    __shared__ int value, flag;
    __shared__ volatile int other_flag;
    if (threadIdx.x == 0)
        flag = other_flag = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        value = x[0];
        __threadfence_block();
        atomicExch(&flag, 1);
        while (!other_flag)
            ;
        __threadfence_block();
        x[1] = value;
    } else if (threadIdx.x == 32) {
        while (atomicAdd(&flag, 0) == 0)
            ;
        __threadfence_block();
        x[0] = value++;
        __threadfence_block();
        other_flag = 1;
    }
}
