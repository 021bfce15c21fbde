// A warp publishes a value by an atomic without a fence: relaxed atomics order no other access.
// run: 1 blocks of 64 threads, 0
// buffer: x 4 output
extern "C" __global__ void faulty(int *x) {
    __shared__ int value, flag;
    if (threadIdx.x == 0)
        flag = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        value = *x;
        atomicExch(&flag, 1);
    } else if (threadIdx.x == 32) {
        while (atomicAdd(&flag, 0) == 0)
            ;
        *x = value; // expect: race-in-block
    }
}
