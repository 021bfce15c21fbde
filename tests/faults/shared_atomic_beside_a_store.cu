// One warp adds to a counter in shared memory while another stores to it.
// run: 1 blocks of 64 threads, 0
// buffer: out 256 output
extern "C" __global__ void faulty(unsigned *out) {
    __shared__ unsigned counter;
    if (threadIdx.x == 0)
        counter = 0;
    if (threadIdx.x >= 32)
        atomicAdd(&counter, 1); // expect: race-in-block
    __syncthreads();
    out[threadIdx.x] = counter;
}
