// One block sets a counter that all blocks add to: nothing says that it comes first, though here it does.
// run: 4 blocks of 64 threads, 0
// buffer: counter 4 output
extern "C" __global__ void faulty(int *counter) {
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *counter = 0;
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(counter, 1); // expect: race-between-blocks
}
