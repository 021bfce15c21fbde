// One block initialises a counter that all blocks add to: the order is undefined, though here it happens first.
// run: 4 blocks of 64 threads, 0
// buffer: counter 4 output
extern "C" __global__ void faulty(int *counter) {
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *counter = 0;
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(counter, 1); // expect: race-between-blocks
}
