// A vote names lanes that have left the branch.
// run: 1 blocks of 32 threads, 0
// buffer: out 128 output
extern "C" __global__ void faulty(unsigned *out) {
    unsigned all = 0;
    if (threadIdx.x < 16)
        all = __ballot_sync(0xffffffff, threadIdx.x % 2); // expect: deadlock
    else
        __syncthreads();
    out[threadIdx.x] = all;
}
