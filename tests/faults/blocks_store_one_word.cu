// Each block stores its own sum to the same word instead of adding it.
// run: 4 blocks of 32 threads, 0
// buffer: total 4 output
extern "C" __global__ void faulty(float *total) {
    if (threadIdx.x == 0)
        *total = blockIdx.x; // expect: race-between-blocks
}
